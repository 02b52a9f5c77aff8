# SPDX-License-Identifier: Apache-2.0
"""Shells of snails: two substances react along the growing edge of a shell and leave a pattern of pigment."""

import numpy as np
from scipy import sparse

import harness

# The matrices of diffusion depend on the grid and the rates, which hold for a shell: loop-invariant computation.
CATEGORY = "loop-invariant computation"
KIND = "store"
CELLS = 600
STEP = 1.0


class Shell:
    """Activator and substrate along the edge, after Meinhardt."""

    def __init__(self, rng):
        self.spread = float(rng.uniform(0.002, 0.02)), float(rng.uniform(0.15, 0.4))
        self.decay = float(rng.uniform(0.06, 0.1))
        self.supply = float(rng.uniform(0.05, 0.09))
        self.random = self.decay * rng.uniform(0.96, 1.04, CELLS)
        self.activator = 0.5 + 0.2 * rng.random(CELLS)
        self.substrate = 0.3 + 0.2 * rng.random(CELLS)

    def diffusion(self):
        """A step of diffusion as a matrix for each substance; nothing leaves at the ends."""
        ones = np.ones(CELLS)
        middle = -2 * ones
        middle[[0, -1]] = -1
        second = sparse.diags([ones[1:], middle, ones[1:]], [-1, 0, 1], format="csr")
        eye = sparse.identity(CELLS, format="csr")
        return [eye + STEP * rate * second for rate in self.spread]

    def grow(self, matrices):
        """One row of the pattern; returns what the activator is."""
        first, second = matrices
        square = self.activator * self.activator
        made = self.random * self.substrate * (square / (1 + 0.02 * square) + 0.01)
        activator = first @ self.activator + STEP * (made - self.decay * self.activator)
        substrate = second @ self.substrate + STEP * (self.supply - made)
        self.activator, self.substrate = activator, np.maximum(substrate, 0)
        return activator


def pattern(shell, rows):
    found = []
    for _ in range(rows):
        found.append(shell.grow(shell.diffusion()) > 1.0)  # waste: store
    return np.array(found)


def pattern_fixed(shell, rows):
    matrices = shell.diffusion()
    return np.array([shell.grow(matrices) > 1.0 for _ in range(rows)])


def stripes(picture):
    """Changes from light to dark, along the edge and along the growth."""
    across = np.count_nonzero(picture[:, 1:] != picture[:, :-1], axis=1)
    along = np.count_nonzero(picture[1:] != picture[:-1], axis=0)
    return float(across.mean()), float(along.mean())


def period(picture):
    """Rows between two lines of growth, from the power of the darkness of rows."""
    darkness = picture.mean(axis=1)
    power = np.abs(np.fft.rfft(darkness - darkness.mean())) ** 2
    return int(power[1:].argmax()) + 1


def shear(picture):
    """How far a line moves from a row to the next, by the best of a few shifts."""
    signs = np.where(picture, 1, -1).astype(np.int8)
    scores = [int((signs[1:, 8:-8] * signs[:-1, 8 + shift:CELLS - 8 + shift]).sum(dtype=np.int64))
              for shift in range(-4, 5)]
    return int(np.argmax(scores)) - 4


def report(shell, growing):
    picture = growing(shell, 240)
    across, along = stripes(picture)
    return [int(picture.sum()), round(across, 6), round(along, 6), period(picture), shear(picture),
            round(float(shell.substrate.mean()), 8)]


def work(shells, growing):
    rng = np.random.default_rng(7209)
    return [report(Shell(rng), growing) for _ in range(shells)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, pattern), lambda n: work(n, pattern_fixed), repeats=66)
