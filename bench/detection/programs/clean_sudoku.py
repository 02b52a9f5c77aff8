# SPDX-License-Identifier: Apache-2.0
"""Solves sudokus with sets of possible digits as bits; the cell with the fewest possibilities is tried first."""

import random

import harness

ALL = 0x1FF
BITS = [bin(mask).count("1") for mask in range(512)]
DIGITS = [[1 << k for k in range(9) if mask >> k & 1] for mask in range(512)]
BOX = [(cell // 27) * 3 + cell % 9 // 3 for cell in range(81)]


class Board:
    def __init__(self):
        self.rows, self.columns, self.boxes = [ALL] * 9, [ALL] * 9, [ALL] * 9
        self.cells = [0] * 81
        self.tries = 0

    def flip(self, cell, bit):
        self.rows[cell // 9] ^= bit
        self.columns[cell % 9] ^= bit
        self.boxes[BOX[cell]] ^= bit

    def free(self, cell):
        return self.rows[cell // 9] & self.columns[cell % 9] & self.boxes[BOX[cell]]

    def solve(self, empty):
        if not empty:
            return True
        fewest, place = 10, 0
        for k, cell in enumerate(empty):
            count = BITS[self.rows[cell // 9] & self.columns[cell % 9] & self.boxes[BOX[cell]]]
            if count < fewest:
                fewest, place = count, k
                if count < 2:
                    break
        cell = empty[place]
        empty[place] = empty[-1]
        empty.pop()
        for bit in DIGITS[self.free(cell)]:
            self.tries += 1
            self.flip(cell, bit)
            self.cells[cell] = bit
            if self.solve(empty):
                return True
            self.flip(cell, bit)
        empty.append(cell)
        empty[place], empty[-1] = cell, empty[place]
        return False


def puzzle(rng, givens):
    """A board with some cells of a shuffled full grid, and the empty cells."""
    digits = rng.sample(range(9), 9)
    rows = [3 * band + k for band in rng.sample(range(3), 3) for k in rng.sample(range(3), 3)]
    board, kept = Board(), set(rng.sample(range(81), givens))
    for cell in kept:
        row, column = rows[cell // 9], cell % 9
        bit = 1 << digits[(3 * (row % 3) + row // 3 + column) % 9]
        board.flip(cell, bit)
        board.cells[cell] = bit
    return board, [cell for cell in range(81) if cell not in kept]


def work(repeats):
    rng = random.Random(81)
    found = []
    for _ in range(repeats):
        board, empty = puzzle(rng, 29)
        solved = board.solve(empty)
        found.append([solved, board.tries, board.cells[0], board.cells[80]])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=15_000)
