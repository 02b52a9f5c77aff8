# SPDX-License-Identifier: Apache-2.0
"""Game of Life with whole arrays: soup after soup, each watched until most of it has settled.

It runs for longer than most programs here. Most cells are empty and stay so, or stand still; where the next change
comes is not known before the neighbours are counted.
"""

import numpy as np

import harness

SIDE, GENERATIONS = 192, 400


class Board:
    """The rim is always empty. Arrays are made once and used for each generation."""

    def __init__(self):
        self.cells = np.zeros((SIDE + 2, SIDE + 2), dtype=np.uint8)
        self.rows = np.empty((SIDE, SIDE + 2), dtype=np.uint8)
        self.counts = np.empty((SIDE, SIDE), dtype=np.uint8)

    def fill(self, rng):
        self.cells[1:-1, 1:-1] = rng.random((SIDE, SIDE)) < 0.3

    def step(self):
        """A cell lives on if three cells of its block of nine live, itself included, or four and it is one of them."""
        cells, rows, counts = self.cells, self.rows, self.counts
        np.add(cells[:-2], cells[1:-1], out=rows)
        np.add(rows, cells[2:], out=rows)
        np.add(rows[:, :-2], rows[:, 1:-1], out=counts)
        np.add(counts, rows[:, 2:], out=counts)
        inner = cells[1:-1, 1:-1]
        inner &= counts == 4
        inner |= counts == 3


def work(repeats):
    rng = np.random.default_rng(306)
    board, found = Board(), []
    for _ in range(repeats):
        board.fill(rng)
        for _ in range(GENERATIONS):
            board.step()
        found.append([board.cells.sum(), board.cells.any(axis=0).sum()])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=1700)
