# SPDX-License-Identifier: Apache-2.0
"""Strain energy of arched shells: nodes and weights of the quadrature are computed for each patch of each shell."""

import functools

import numpy as np

import harness

# leggauss(n) solves for the roots of a polynomial; there are a handful of n, and integrate() asks anew each time, from
# whichever patch it is called. Same argument, same result, many callers: repeated native calls.
CATEGORY = "repeated native calls"
KIND = "store"


class Shell:
    """A curved roof: height over a rectangle, thickness and stiffness that vary with the place."""

    def __init__(self, rng):
        self.width, self.depth = rng.uniform(6.0, 18.0, 2)
        self.rise = rng.uniform(0.5, 3.0)
        self.swing = rng.uniform(0.5, 2.5, 2)
        self.load = rng.uniform(0.5, 2.0)

    def slope(self, x, y):
        """Derivatives of the height."""
        a, b = np.pi * self.swing / [self.width, self.depth]
        return self.rise * a * np.cos(a * x) * np.sin(b * y), self.rise * b * np.sin(a * x) * np.cos(b * y)

    def bending(self, x, y):
        a, b = np.pi * self.swing / [self.width, self.depth]
        shape = self.rise * np.sin(a * x) * np.sin(b * y)
        thick = 0.12 + 0.05 * np.abs(x / self.width - 0.5) + 0.03 * y / self.depth
        return 0.5 * 30e3 * thick**3 / 12.0 * ((a * a + b * b) * shape) ** 2

    def stretching(self, x, y):
        down, across = self.slope(x, y)
        return self.load * np.sqrt(1.0 + down**2 + across**2)

    def order(self, column, row):
        """Patches at the edge need finer nodes."""
        return 24 if column in (0, 3) or row in (0, 3) else 16


def nodes(order):
    return np.polynomial.legendre.leggauss(order)  # waste: store


nodes_fixed = functools.cache(np.polynomial.legendre.leggauss)


def integrate(function, box, order, rule):
    """Over a rectangle, by Gauss and Legendre in both directions."""
    (left, right), (low, high) = box
    places, weights = rule(order)
    x = 0.5 * (right - left) * places + 0.5 * (left + right)
    y = 0.5 * (high - low) * places + 0.5 * (low + high)
    values = function(x[:, None], y[None, :])
    return 0.25 * (right - left) * (high - low) * (weights @ values @ weights)


def energies(shell, rule):
    """Bending and stretching of all patches."""
    xs, ys = np.linspace(0.0, shell.width, 5), np.linspace(0.0, shell.depth, 5)
    found = np.zeros((2, 4, 4))
    for column in range(4):
        for row in range(4):
            box = (xs[column:column + 2], ys[row:row + 2])
            order = shell.order(column, row)
            found[:, column, row] = [integrate(part, box, order, rule) for part in (shell.bending, shell.stretching)]
    return found


def work(shells, rule):
    rng = np.random.default_rng(1959)
    found = []
    for _ in range(shells):
        parts = energies(Shell(rng), rule)
        found.append([*parts.sum(axis=(1, 2)), parts[0].max(), int(parts[1].argmin())])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, nodes), lambda n: work(n, nodes_fixed), repeats=400)
