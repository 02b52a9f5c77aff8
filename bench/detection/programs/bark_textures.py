# SPDX-License-Identifier: Apache-2.0
"""Which tree is this bark from? Local binary patterns of photographs, pixel by pixel."""

import numpy as np
from scipy import ndimage

import harness

CATEGORY = "slice underutilization"
KIND = "load"
KINDS = 6
OFFSETS = [(-1, -1), (-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1)]


def bark(rng, kind, size=72):
    """Ridges that run more or less upright."""
    noise = rng.normal(size=(size, size))
    rough = ndimage.gaussian_filter(noise, (1.0 + 1.2 * kind, 1.0 + 0.2 * kind))
    fine = ndimage.gaussian_filter(rng.normal(size=(size, size)), 0.7)
    img = rough / rough.std() + 0.3 * fine / fine.std()
    return np.clip(128 + 40 * img, 0, 255).astype(np.uint8)


def lbp(img):
    h, w = img.shape
    out = np.zeros((h - 2, w - 2), dtype=np.uint8)
    for y in range(1, h - 1):
        for x in range(1, w - 1):
            centre, code = img[y, x], 0  # waste: load
            for bit, (dy, dx) in enumerate(OFFSETS):
                if img[y + dy, x + dx] >= centre:  # waste: load
                    code |= 1 << bit
            out[y - 1, x - 1] = code  # waste: load
    return out


def lbp_fixed(img):
    h, w = img.shape
    centre = img[1:-1, 1:-1]
    out = np.zeros((h - 2, w - 2), dtype=np.uint8)
    for bit, (dy, dx) in enumerate(OFFSETS):
        out |= (img[1 + dy:h - 1 + dy, 1 + dx:w - 1 + dx] >= centre).astype(np.uint8) << np.uint8(bit)
    return out


def describe(img, patterns):
    hist = np.bincount(patterns(img).ravel(), minlength=256).astype(float)
    smooth = ndimage.median_filter(img, size=5)
    edges = np.hypot(ndimage.sobel(smooth.astype(float), 0), ndimage.sobel(smooth.astype(float), 1))
    return np.concatenate([hist / hist.sum(), np.histogram(edges, bins=16, range=(0, 400))[0] / edges.size])


def chi2(a, b):
    return 0.5 * (((a - b) ** 2) / (a + b + 1e-9)).sum(axis=-1)


def work(photographs, patterns):
    rng = np.random.default_rng(99)
    known = np.array([describe(bark(rng, k), patterns) for k in range(KINDS)])
    right, found = 0, []
    for number in range(photographs):
        distances = chi2(known, describe(bark(rng, number % KINDS), patterns))
        right += int(distances.argmin()) == number % KINDS
        found.append(distances.min())
    return [right, *found]


if __name__ == "__main__":
    harness.main(lambda n: work(n, lbp), lambda n: work(n, lbp_fixed), repeats=900)
