# SPDX-License-Identifier: Apache-2.0
"""Ends of four-in-a-row games are solved: boards are bits, and values of boards are kept as long as a game lasts."""

import random

import harness

WIDTH, HEIGHT = 7, 6
RISE = HEIGHT + 1  # bits of a column
ORDER = [3, 2, 4, 1, 5, 0, 6]
BOTTOM = [1 << column * RISE for column in range(WIDTH)]
TOP = [1 << column * RISE + HEIGHT - 1 for column in range(WIDTH)]
FULL = sum(((1 << HEIGHT) - 1) << column * RISE for column in range(WIDTH))


def has_four(stones):
    for step in (1, RISE - 1, RISE, RISE + 1):
        pairs = stones & stones >> step
        if pairs & pairs >> 2 * step:
            return True
    return False


class Solver:
    def __init__(self):
        self.known = {}
        self.visits = 0

    def value(self, own, taken, alpha, beta):
        """1, 0 or -1 for the side to move."""
        self.visits += 1
        if taken == FULL:
            return 0
        key = own, taken
        low, high = self.known.get(key, (-1, 1))
        alpha, beta = max(alpha, low), min(beta, high)
        if alpha >= beta:
            return alpha
        best, start = -1, alpha
        for column in ORDER:
            if taken & TOP[column]:
                continue
            stone = (taken + BOTTOM[column]) & ~taken
            if has_four(own | stone):
                found = 1
            else:
                found = -self.value(taken & ~own, taken | stone, -beta, -alpha)
            best = max(best, found)
            alpha = max(alpha, best)
            if alpha >= beta:
                break
        if best <= start:
            high = best
        else:
            low = best
            if best < beta:
                high = best
        self.known[key] = low, high
        return best


def opened(random_source, stones):
    """A board after so many random moves that nobody has won."""
    while True:
        own = taken = 0
        for _ in range(stones):
            column = random_source.choice([column for column in range(WIDTH) if not taken & TOP[column]])
            own = own | (taken + BOTTOM[column]) & ~taken
            if has_four(own):
                break
            own, taken = taken & ~own, taken | (taken + BOTTOM[column])
        else:
            return own, taken


def work(repeats):
    random_source = random.Random(1974)
    found = []
    for _ in range(repeats):
        solver = Solver()
        found.append([solver.value(*opened(random_source, 20), -1, 1), solver.visits, len(solver.known)])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=20)
