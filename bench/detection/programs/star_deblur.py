# SPDX-License-Identifier: Apache-2.0
"""Pictures of stars are sharpened by Richardson and Lucy's method, transforming the telescope's blur at each step."""

import numpy as np
from scipy import fft

import harness

# The blur of an exposure stays the same while its picture is sharpened: loop-invariant computation.
CATEGORY = "loop-invariant computation"
KIND = "store"
SIDE = 192


def blur_of_night(rng):
    """What the air makes of a point: Moffat's profile, a little stretched."""
    y, x = np.mgrid[-SIDE // 2:SIDE // 2, -SIDE // 2:SIDE // 2]
    angle, stretch = rng.uniform(0, np.pi), rng.uniform(1.0, 1.3)
    along, across = x * np.cos(angle) + y * np.sin(angle), y * np.cos(angle) - x * np.sin(angle)
    blur = (1.0 + (np.square(along / stretch) + np.square(across)) / rng.uniform(4, 9)) ** -2.5
    return blur / blur.sum()


def turned(blur):
    """The blur seen from the other side, for the way back."""
    return np.roll(blur[::-1, ::-1], (1, 1), axis=(0, 1))


class Exposure:
    def __init__(self, rng, stars):
        sky = np.full((SIDE, SIDE), 2.0)
        self.places = rng.integers(5, SIDE - 5, size=(stars, 2))
        sky[tuple(self.places.T)] += rng.pareto(1.5, stars) * 200.0 + 50.0
        self.blur = blur_of_night(rng)
        seen = fft.irfft2(fft.rfft2(sky) * fft.rfft2(fft.ifftshift(self.blur)), s=sky.shape)
        self.picture = rng.poisson(np.maximum(seen, 0.0)).astype(float)


def sharpen(exposure, rounds):
    estimate = np.full_like(exposure.picture, exposure.picture.mean())
    for _ in range(rounds):
        transfer = fft.rfft2(fft.ifftshift(exposure.blur))  # waste: store
        seen = fft.irfft2(fft.rfft2(estimate) * transfer, s=estimate.shape)
        ratio = exposure.picture / np.maximum(seen, 1e-6)
        back = fft.rfft2(fft.ifftshift(turned(exposure.blur)))  # waste: store
        estimate = np.maximum(estimate * fft.irfft2(fft.rfft2(ratio) * back, s=estimate.shape), 1e-9)
    return estimate


def sharpen_fixed(exposure, rounds):
    estimate = np.full_like(exposure.picture, exposure.picture.mean())
    transfer = fft.rfft2(fft.ifftshift(exposure.blur))
    back = fft.rfft2(fft.ifftshift(turned(exposure.blur)))
    for _ in range(rounds):
        seen = fft.irfft2(fft.rfft2(estimate) * transfer, s=estimate.shape)
        ratio = exposure.picture / np.maximum(seen, 1e-6)
        estimate = np.maximum(estimate * fft.irfft2(fft.rfft2(ratio) * back, s=estimate.shape), 1e-9)
    return estimate


def brightest(picture, count):
    """Local maxima, by brightness."""
    inner = picture[1:-1, 1:-1]
    around = np.max([picture[1 + dy:SIDE - 1 + dy, 1 + dx:SIDE - 1 + dx]
                     for dy in (-1, 0, 1) for dx in (-1, 0, 1) if dy or dx], axis=0)
    peaks = np.sort(inner[inner > around])[::-1]
    return peaks[:count]


def work(nights, sharpening):
    rng, found = np.random.default_rng(96), []
    for _ in range(nights):
        exposure = Exposure(rng, 120)
        sharp = sharpening(exposure, 60)
        peaks = brightest(sharp, 40)
        found.append([np.log(peaks).mean(), np.log(peaks[0]), sharp.sum() / exposure.picture.sum(), float(peaks.size)])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, sharpen), lambda n: work(n, sharpen_fixed), repeats=120)
