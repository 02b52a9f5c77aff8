# SPDX-License-Identifier: Apache-2.0
"""How fast do bacteria grow? A plate reader's counts are asked for well by well and cycle by cycle."""

import math

import numpy as np

import harness

CATEGORY = "slice underutilization"
KIND = "load"
ROWS, COLUMNS, CYCLES = 8, 12, 120
STEP = 6  # cycles; an hour


class Plate:
    def __init__(self, counts, blanks):
        self.counts = counts
        self.blanks = blanks
        self.depth = 1.7

    def density(self, cycle, row, column):
        return (self.counts[cycle, row, column] - self.blanks[cycle]) * self.depth  # waste: load

    def growth(self, row, column):
        """The greatest growth within an hour, and when it begins."""
        best, begin = 0.0, 0
        for cycle in range(CYCLES - STEP):
            before = self.density(cycle, row, column)  # waste: load
            after = self.density(cycle + STEP, row, column)  # waste: load
            rate = math.log(after / before)
            if rate > best:
                best, begin = rate, cycle
        return best, begin

    def growth_fixed(self, row, column):
        curve = (self.counts[:, row, column] - self.blanks) * self.depth
        rates = np.log(curve[STEP:] / curve[:-STEP])
        begin = rates.argmax()
        return rates[begin], begin


def measured(rng):
    """Logistic growth in every well, with its own speed and its own late start."""
    time = np.arange(CYCLES)[:, None, None]
    speed = rng.uniform(0.05, 0.2, size=(ROWS, COLUMNS))
    half = rng.uniform(30.0, 80.0, size=(ROWS, COLUMNS))
    grown = 0.02 + 1.1 / (1.0 + np.exp(speed * (half - time)))
    blanks = 0.08 + rng.normal(scale=1e-4, size=CYCLES)
    noise = rng.normal(scale=2e-4, size=grown.shape)
    return Plate(grown + blanks[:, None, None] + noise, blanks)


def work(repeats, growth):
    rng = np.random.default_rng(1676)
    found = []
    for _ in range(repeats):
        plate = measured(rng)
        wells = np.array([growth(plate, row, column) for row in range(ROWS) for column in range(COLUMNS)])
        found.append([*wells.mean(axis=0), *wells.max(axis=0)])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, Plate.growth), lambda n: work(n, Plate.growth_fixed), repeats=500)
