# SPDX-License-Identifier: Apache-2.0
"""Walkers look around in hills; heights are computed from noise once, and then come from a cache that works."""

import functools
import math
import random

import harness


@functools.lru_cache(maxsize=None)
def corner(x, y):
    """A random number that belongs to a place, 0 to 1."""
    mixed = (x * 374761393 + y * 668265263) & 0xFFFFFFFF
    mixed = ((mixed ^ (mixed >> 13)) * 1274126177) & 0xFFFFFFFF
    return (mixed ^ (mixed >> 16)) / 4294967296.0


def smooth(x, y):
    column, row = math.floor(x), math.floor(y)
    right, down = x - column, y - row
    right, down = right * right * (3.0 - 2.0 * right), down * down * (3.0 - 2.0 * down)
    top = corner(column, row) * (1.0 - right) + corner(column + 1, row) * right
    bottom = corner(column, row + 1) * (1.0 - right) + corner(column + 1, row + 1) * right
    return top * (1.0 - down) + bottom * down


@functools.lru_cache(maxsize=200000)
def height(x, y):
    """Metres; from four layers of noise."""
    return sum(80.0 / 2**layer * smooth(x * 2**layer / 64.0, y * 2**layer / 64.0) for layer in range(4))


REACH = 60
TURNS = [ray * math.pi / 8.0 for ray in range(16)]
RAYS = [
    [(step, round(step * math.cos(turn)), round(step * math.sin(turn))) for step in range(1, REACH)] for turn in TURNS
]


def view(x, y):
    """How many of the tiles along sixteen rays can be seen."""
    eye, seen = height(x, y) + 2.0, 0
    for ray in RAYS:
        steepest = -math.inf
        for step, east, south in ray:
            slope = (height(x + east, y + south) - eye) / step
            if slope >= steepest:
                steepest = slope
                seen += 1
    return seen


def walk(rng, x, y, steps):
    """Always on to a tile nearby from which one sees the most, of three."""
    total = 0
    for _ in range(steps):
        choices = [(x + rng.randrange(-3, 4), y + rng.randrange(-3, 4)) for _ in range(3)]
        seen, x, y = max((view(*choice), *choice) for choice in choices)
        total += seen
    return [total, x, y]


def work(repeats):
    rng = random.Random(758)
    return [walk(rng, rng.randrange(500), rng.randrange(500), 20) for _ in range(repeats)]


if __name__ == "__main__":
    harness.main(work, repeats=600)
