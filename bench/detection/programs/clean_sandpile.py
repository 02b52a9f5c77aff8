# SPDX-License-Identifier: Apache-2.0
"""Grains fall on a pile of sand and start avalanches: only the cells that topple are visited.

It runs for longer than most programs here. Nearly all of the field rests at any time, and heights are 0 to 3: small
integers, which Python has once each.
"""

import random

import harness

SIDE = 50
STRIDE = SIDE + 2


def is_rim(cell):
    row, column = divmod(cell, STRIDE)
    return row in (0, STRIDE - 1) or column in (0, STRIDE - 1)


RIM = frozenset(cell for cell in range(STRIDE * STRIDE) if is_rim(cell))


def drop(heights, cell):
    """How many cells toppled. Grains that reach the rim are gone."""
    heights[cell] += 1
    unstable, toppled = [cell], 0
    while unstable:
        here = unstable.pop()
        if heights[here] < 4:
            continue
        heights[here] -= 4
        toppled += 1
        for there in (here - 1, here + 1, here - STRIDE, here + STRIDE):
            if there not in RIM:
                heights[there] += 1
                if heights[there] >= 4:
                    unstable.append(there)
        if heights[here] >= 4:
            unstable.append(here)
    return toppled


def work(repeats):
    rng = random.Random(207)
    heights = [rng.randrange(4) for _ in range(STRIDE * STRIDE)]
    sizes = []
    for _ in range(repeats):
        row, column = rng.randrange(1, SIDE + 1), rng.randrange(1, SIDE + 1)
        sizes.append(drop(heights, row * STRIDE + column))
    return [len(sizes), max(sizes), sum(sizes), *heights[STRIDE + 1 : 2 * STRIDE - 1]]


if __name__ == "__main__":
    harness.main(work, repeats=420_000)
