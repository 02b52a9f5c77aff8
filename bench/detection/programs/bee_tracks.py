# SPDX-License-Identifier: Apache-2.0
"""Bees are followed through a film; the rows of each picture are stacked below the table of all pictures so far."""

import numpy as np

import harness

CATEGORY = "inefficient algorithm"
KIND = "store"
BEES, PICTURES = 40, 1200


class Meadow:
    """Where the bees are: each turns at random and flies on, and comes back at the rim."""

    def __init__(self, rng):
        self.rng = rng
        self.places = rng.uniform(0.0, 1000.0, size=(BEES, 2))
        self.courses = rng.uniform(0.0, 2.0 * np.pi, size=BEES)

    def detections(self, picture):
        """A row for each bee that is seen: picture, bee, x, y."""
        self.courses += self.rng.normal(0.0, 0.3, size=BEES)
        self.places += 4.0 * np.column_stack((np.cos(self.courses), np.sin(self.courses)))
        self.places %= 1000.0
        seen = np.flatnonzero(self.rng.random(BEES) < 0.9)
        return np.column_stack((np.full(len(seen), picture), seen, self.places[seen]))


def film(meadow):
    table = np.empty((0, 4))
    for picture in range(PICTURES):
        table = np.vstack((table, meadow.detections(picture)))  # waste: store
    return table


def film_fixed(meadow):
    return np.vstack([meadow.detections(picture) for picture in range(PICTURES)])


def flights(table):
    """Mean and longest way between two pictures of one bee, without the jumps at the rim."""
    rows = table[np.lexsort((table[:, 0], table[:, 1]))]
    steps = np.diff(rows, axis=0)
    ways = np.hypot(steps[:, 2], steps[:, 3])
    ways = ways[(steps[:, 1] == 0.0) & (steps[:, 0] == 1.0) & (ways < 500.0)]
    return ways.mean(), ways.max(), len(ways)


def work(repeats, record):
    rng = np.random.default_rng(412)
    return [flights(record(Meadow(rng))) for _ in range(repeats)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, film), lambda n: work(n, film_fixed), repeats=35)
