# SPDX-License-Identifier: Apache-2.0
"""Bending of masonry arches by Gaussian quadrature; the nodes and weights are computed for each integral."""

import numpy as np

import harness

CATEGORY = "repeated native calls"
KIND = "store"
ORDER = 24
NODES = {}


def nodes(order):
    return np.polynomial.legendre.leggauss(order)  # waste: store


def nodes_fixed(order):
    if order not in NODES:
        NODES[order] = np.polynomial.legendre.leggauss(order)
    return NODES[order]


def integral(function, low, high, rule):
    points, weights = rule(ORDER)
    half = (high - low) / 2.0
    return half * (weights @ function(low + half * (points + 1.0)))


class Arch:
    """A parabola with a load that grows to one side."""

    def __init__(self, span, rise, load):
        self.span, self.rise, self.load = span, rise, load

    def height(self, x):
        return 4.0 * self.rise * x * (self.span - x) / self.span**2

    def slope(self, x):
        return 4.0 * self.rise * (self.span - 2.0 * x) / self.span**2

    def moment(self, x):
        """Of a simple beam of the same span."""
        return self.load * x * (self.span**2 - x**2) / (6.0 * self.span)

    def thrust(self, rule):
        length = lambda x: np.sqrt(1.0 + self.slope(x) ** 2)  # noqa: E731
        above = integral(lambda x: self.moment(x) * self.height(x) * length(x), 0.0, self.span, rule)
        return above / integral(lambda x: self.height(x) ** 2 * length(x), 0.0, self.span, rule)


def work(repeats, rule):
    rng = np.random.default_rng(70)
    found = []
    for _ in range(repeats):
        arch = Arch(rng.uniform(6, 30), rng.uniform(1, 8), rng.uniform(10, 50))
        thrust = arch.thrust(rule)
        x = np.linspace(0.0, arch.span, 50)
        rest = arch.moment(x) - thrust * arch.height(x)
        found.append([thrust, rest.max(), rest.min()])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, nodes), lambda n: work(n, nodes_fixed), repeats=4_000)
