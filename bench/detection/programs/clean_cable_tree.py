# SPDX-License-Identifier: Apache-2.0
"""The cheapest cables between the houses of new villages: Kruskal's method with a forest of joined houses."""

import math
import random

import harness

HOUSES = 1_500
CELL = 25.0


def village(rng):
    return [(rng.uniform(0, 800), rng.triangular(0, 600, 150)) for _ in range(HOUSES)]


def cables(places):
    """(length, house, house) of pairs that lie in the same or in adjacent cells of a grid."""
    cells = {}
    for house, (x, y) in enumerate(places):
        cells.setdefault((int(x // CELL), int(y // CELL)), []).append(house)
    found = []
    for (column, row), here in cells.items():
        for k, house in enumerate(here):
            place = places[house]
            found += [(math.dist(place, places[other]), house, other) for other in here[k + 1 :]]
        for step in ((1, -1), (1, 0), (1, 1), (0, 1)):
            there = cells.get((column + step[0], row + step[1]), ())
            found += [(math.dist(places[house], places[other]), house, other) for house in here for other in there]
    found.sort()
    return found


def tree(pairs):
    """Length of the cables, how many were laid and the longest one."""
    above = list(range(HOUSES))
    size = [1] * HOUSES
    total, laid, longest = 0.0, 0, 0.0
    for length, one, other in pairs:
        while above[one] != one:
            above[one] = one = above[above[one]]
        while above[other] != other:
            above[other] = other = above[above[other]]
        if one == other:
            continue
        if size[one] < size[other]:
            one, other = other, one
        above[other] = one
        size[one] += size[other]
        total, laid, longest = total + length, laid + 1, length
        if laid == HOUSES - 1:
            break
    return total, laid, longest


def work(repeats):
    rng = random.Random(1926)
    return [tree(cables(village(rng))) for _ in range(repeats)]


if __name__ == "__main__":
    harness.main(work, repeats=170)
