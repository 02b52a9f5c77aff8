# SPDX-License-Identifier: Apache-2.0
"""Corals as a reaction of two substances that spread: most of the sea is at rest, and the rim of the coral moves."""

import numpy as np

import harness

SIDE = 128


class Tank:
    """Gray and Scott's model, on arrays with a rim that wraps around."""

    def __init__(self, rng):
        self.feed, self.kill = rng.uniform(0.036, 0.056), rng.uniform(0.060, 0.064)
        self.food = np.ones((SIDE + 2, SIDE + 2))
        self.coral = np.zeros((SIDE + 2, SIDE + 2))
        for row, column in rng.integers(10, SIDE - 10, size=(4, 2)):
            self.food[row:row + 6, column:column + 6] = 0.5
            self.coral[row:row + 6, column:column + 6] = 0.25 + 0.02 * rng.random((6, 6))
        self.flow, self.eaten = np.empty((SIDE, SIDE)), np.empty((SIDE, SIDE))

    def spread(self, field):
        """Five points' worth of Laplace's operator, into a buffer of our own."""
        field[0], field[-1] = field[-2], field[1]
        field[:, 0], field[:, -1] = field[:, -2], field[:, 1]
        np.multiply(field[1:-1, 1:-1], -4.0, out=self.flow)
        self.flow += field[:-2, 1:-1]
        self.flow += field[2:, 1:-1]
        self.flow += field[1:-1, :-2]
        self.flow += field[1:-1, 2:]
        return self.flow

    def step(self):
        food, coral = self.food[1:-1, 1:-1], self.coral[1:-1, 1:-1]
        np.multiply(coral, coral, out=self.eaten)
        self.eaten *= food
        flow = self.spread(self.food)
        flow *= 0.16
        flow -= self.eaten
        flow += self.feed
        food *= 1.0 - self.feed
        food += flow
        flow = self.spread(self.coral)
        flow *= 0.08
        flow += self.eaten
        coral *= 1.0 - self.feed - self.kill
        coral += flow


def shape(coral):
    """Area, length of the rim, weight."""
    is_coral = coral > 0.1
    rim = np.count_nonzero(is_coral[1:] != is_coral[:-1]) + np.count_nonzero(is_coral[:, 1:] != is_coral[:, :-1])
    return [np.count_nonzero(is_coral), rim, coral.sum()]


def work(tanks):
    rng, found = np.random.default_rng(120), []
    for _ in range(tanks):
        tank = Tank(rng)
        for _ in range(1500):
            tank.step()
        found.append(shape(tank.coral[1:-1, 1:-1]))
    return found


if __name__ == "__main__":
    harness.main(work, repeats=20)
