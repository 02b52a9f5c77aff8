# SPDX-License-Identifier: Apache-2.0
"""The shape of tiny crystals from their diffraction: Fienup's method goes to and fro between two Fourier spaces."""

import numpy as np
from scipy import fft

import harness

SIDE = 96


class Crystal:
    """Its density lies within a known frame; of its transform, only the amplitudes are measured."""

    def __init__(self, rng):
        self.frame = np.zeros((SIDE, SIDE), bool)
        high, wide = rng.integers(24, 40, 2)
        self.frame[SIDE // 2 - high // 2:SIDE // 2 + high // 2, SIDE // 2 - wide // 2:SIDE // 2 + wide // 2] = True
        y, x = np.mgrid[:SIDE, :SIDE]
        density = np.zeros((SIDE, SIDE))
        for _ in range(9):
            at, size = rng.uniform(SIDE / 2 - 14, SIDE / 2 + 14, 2), rng.uniform(2, 6)
            density += rng.uniform(0.2, 1.0) * (np.square(y - at[0]) + np.square(x - at[1]) < size**2)
        self.density = density * self.frame
        self.amplitudes = np.abs(fft.fft2(self.density)) * (1.0 + rng.normal(0, 0.002, (SIDE, SIDE)))


def project(guess, amplitudes):
    """The nearest picture that has the measured amplitudes, and how far the guess was from them."""
    spectrum = fft.fft2(guess)
    size = np.abs(spectrum)
    error = np.linalg.norm(size - amplitudes) / np.linalg.norm(amplitudes)
    spectrum *= amplitudes / np.maximum(size, 1e-12)
    return fft.ifft2(spectrum).real, error


def solve(crystal, rng, rounds):
    """Hybrid input and output, with a few rounds of plain error reduction in between."""
    guess = rng.random((SIDE, SIDE)) * crystal.frame
    error = 1.0
    for number in range(rounds):
        back, error = project(guess, crystal.amplitudes)
        allowed = crystal.frame & (back > 0.0)
        outside = 0.0 if number % 20 > 15 else guess - 0.9 * back
        guess = np.where(allowed, back, outside)
        if error < 0.004:
            break
    return np.where(crystal.frame, guess, 0.0), error, number


def work(crystals):
    rng, found = np.random.default_rng(116), []
    for _ in range(crystals):
        crystal = Crystal(rng)
        density, error, rounds = solve(crystal, rng, 160)
        found.append([round(float(error), 2), round(density.sum() / crystal.density.sum(), 1), rounds > 100])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=300)
