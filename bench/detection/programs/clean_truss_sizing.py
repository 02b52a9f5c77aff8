# SPDX-License-Identifier: Apache-2.0
"""Bars of a truss bridge get new areas, for which it is summed up and solved, until all stresses are right."""

import numpy as np

import harness

BAYS, SPAN, HEIGHT = 24, 3.0, 4.0  # metres
MODULUS, ALLOWED, LEAST = 2.1e11, 1.6e8, 1e-4


class Truss:
    """What does not change with the areas: the bars, their directions, and where they belong in the matrix."""

    def __init__(self):
        lower, upper = range(BAYS + 1), range(BAYS + 1, 2 * BAYS + 2)
        self.places = np.array([(SPAN * (k % (BAYS + 1)), HEIGHT * (k > BAYS)) for k in range(2 * BAYS + 2)])
        bars = [*zip(lower, lower[1:]), *zip(upper, upper[1:]), *zip(lower, upper)]
        bars += [*zip(lower, upper[1:]), *zip(upper, lower[1:])]
        self.bars = np.array(bars)
        apart = self.places[self.bars[:, 1]] - self.places[self.bars[:, 0]]
        self.lengths = np.linalg.norm(apart, axis=1)
        self.directions = np.hstack([-apart, apart]) / self.lengths[:, None]
        self.unit = np.einsum("bi,bj->bij", self.directions, self.directions) * (MODULUS / self.lengths)[:, None, None]
        self.freedoms = (2 * self.bars[:, :, None] + np.arange(2)).reshape(len(bars), 4)
        self.size = 2 * len(self.places)
        self.index = (self.freedoms[:, :, None] * self.size + self.freedoms[:, None]).ravel()
        self.free = np.delete(np.arange(self.size), [0, 1, 2 * BAYS + 1])
        self.inner = np.ix_(self.free, self.free)

    def stresses(self, areas, loads):
        weights = (self.unit * areas[:, None, None]).ravel()
        matrix = np.bincount(self.index, weights, self.size**2).reshape(self.size, self.size)
        moved = np.zeros(self.size)
        moved[self.free] = np.linalg.solve(matrix[self.inner], loads[self.free])
        return MODULUS / self.lengths * np.einsum("bi,bi->b", self.directions, moved[self.freedoms])


def size_bars(truss, loads):
    """Areas that just bear the loads, and how many rounds that took."""
    areas = np.full(len(truss.bars), 0.01)
    for count in range(1, 61):
        used = np.abs(truss.stresses(areas, loads)) / ALLOWED
        wanted = np.maximum(areas * used**0.7, LEAST)
        change = np.abs(wanted / areas - 1.0).max()
        areas = wanted
        if change < 1e-3:
            break
    return areas, count


def work(repeats):
    rng = np.random.default_rng(1847)
    truss = Truss()
    found = []
    for _ in range(repeats):
        loads = np.zeros(truss.size)
        loads[3 : 2 * BAYS : 2] = -rng.uniform(1e4, 4e5, size=BAYS - 1)
        areas, count = size_bars(truss, loads)
        found.append([areas @ truss.lengths, areas.max(), count])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=800)
