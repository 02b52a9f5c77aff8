# SPDX-License-Identifier: Apache-2.0
"""Games of random draughtsmen end when a position comes back; each position is compared with all before it."""

import numpy as np

import harness

# The bytes of a board are a key, and a set of keys answers at once: an inefficient algorithm.
CATEGORY = "inefficient algorithm"
KIND = "load"
SIDE = 8
STEPS = ((1, 1), (1, -1), (-1, 1), (-1, -1))


class Board:
    """Kings of two sides on the dark squares."""

    def __init__(self, rng, kings):
        self.rng = rng
        self.cells = np.zeros((SIDE, SIDE), np.int8)
        dark = [(row, column) for row in range(SIDE) for column in range(SIDE) if (row + column) % 2]
        chosen = rng.choice(len(dark), 2 * kings, replace=False).tolist()
        for number, at in enumerate(chosen):
            self.cells[dark[at]] = 1 if number % 2 else -1

    def moves(self, side):
        """Jumps if there are any, else steps: (from, to, taken or None)."""
        steps, jumps = [], []
        cells = self.cells.tolist()
        for row in range(SIDE):
            for column in range(SIDE):
                if cells[row][column] != side:
                    continue
                for down, right in STEPS:
                    near, far = (row + down, column + right), (row + 2 * down, column + 2 * right)
                    if is_inside(near) and cells[near[0]][near[1]] == 0:
                        steps.append(((row, column), near, None))
                    elif is_inside(far) and cells[near[0]][near[1]] == -side and cells[far[0]][far[1]] == 0:
                        jumps.append(((row, column), far, near))
        return jumps or steps

    def play(self, move):
        start, end, taken = move
        self.cells[end] = self.cells[start]
        self.cells[start] = 0
        if taken:
            self.cells[taken] = 0


def is_inside(place):
    return 0 <= place[0] < SIDE and 0 <= place[1] < SIDE


class Seen:
    def __init__(self):
        self.boards = []

    def has(self, cells):
        if any(np.array_equal(cells, board) for board in self.boards):  # waste: load
            return True
        self.boards.append(cells.copy())
        return False


class SeenFixed:
    def __init__(self):
        self.keys = set()

    def has(self, cells):
        key = cells.tobytes()
        is_known = key in self.keys
        self.keys.add(key)
        return is_known


def game(rng, seen):
    """Until one side cannot move, or a position has come back for the third time."""
    board, side, returns = Board(rng, 3), 1, 0
    for number in range(200):
        moves = board.moves(side)
        if not moves:
            break
        board.play(moves[rng.integers(len(moves))])
        returns += seen.has(board.cells * side)
        if returns == 6:
            break
        side = -side
    return [number, returns, int(board.cells.sum()), np.count_nonzero(board.cells)]


def work(games, seen_class):
    rng = np.random.default_rng(104)
    return [game(rng, seen_class()) for _ in range(games)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, Seen), lambda n: work(n, SeenFixed), repeats=3000)
