# SPDX-License-Identifier: Apache-2.0
"""Sight lines in a world of blocks: a packed piece of the world is unpacked again for every block a ray meets."""

import math
import random
import zlib

import harness

CATEGORY = "repeated native calls"
KIND = "store"
SIDE, HEIGHT, PIECES = 16, 48, 12
AIR = 0


def landscape(rng):
    """Hills of stone (1) under grass (2), one packed piece for each square of 16 by 16 columns."""
    slopes = [(rng.uniform(0.02, 0.2), rng.uniform(0.02, 0.2), rng.uniform(0, 6)) for _ in range(5)]

    def column(x, z):
        top = 20 + round(sum(3 * math.sin(a * x + b * z + phase) for a, b, phase in slopes))
        return bytes([1] * top + [2] + [AIR] * (HEIGHT - top - 1))

    for square in range(PIECES * PIECES):
        left, front = square % PIECES * SIDE, square // PIECES * SIDE
        columns = (column(left + x, front + z) for z in range(SIDE) for x in range(SIDE))
        yield (square % PIECES, square // PIECES), zlib.compress(b"".join(columns))


class World:
    def __init__(self, packed):
        self.packed = dict(packed)

    def piece(self, where):
        return zlib.decompress(self.packed[where])  # waste: store

    def block(self, x, y, z):
        piece = self.piece((x // SIDE, z // SIDE))  # waste: store
        return piece[((z % SIDE) * SIDE + x % SIDE) * HEIGHT + y]

    def dig(self, x, y, z):
        where = x // SIDE, z // SIDE
        piece = bytearray(self.piece(where))
        piece[((z % SIDE) * SIDE + x % SIDE) * HEIGHT + y] = AIR
        self.packed[where] = zlib.compress(piece)


class FixedWorld(World):
    def __init__(self, packed):
        super().__init__(packed)
        self.open = {}

    def piece(self, where):
        if where not in self.open:
            self.open[where] = super().piece(where)
        return self.open[where]

    def dig(self, x, y, z):
        super().dig(x, y, z)
        del self.open[x // SIDE, z // SIDE]


def look(world, eye, direction, far=90.0):
    """The first block that is not air along a ray, or None."""
    distance = 0.0
    while distance < far:
        x, y, z = (math.floor(start + distance * part) for start, part in zip(eye, direction))
        if not (0 <= x < SIDE * PIECES and 0 <= y < HEIGHT and 0 <= z < SIDE * PIECES):
            return None
        if world.block(x, y, z) != AIR:
            return x, y, z
        distance += 0.5
    return None


def work(repeats, kind):
    rng = random.Random(2009)
    world, found = kind(landscape(rng)), []
    for _ in range(repeats):
        eye = [rng.uniform(60, 130), rng.uniform(38, 47), rng.uniform(60, 130)]
        turn, tilt = rng.uniform(0, 2 * math.pi), rng.uniform(-0.9, 0.05)
        direction = math.cos(turn) * math.cos(tilt), math.sin(tilt), math.sin(turn) * math.cos(tilt)
        seen = look(world, eye, direction)
        found.append(sum(seen) if seen else -1)
        if seen and rng.random() < 0.1:
            world.dig(*seen)
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, World), lambda n: work(n, FixedWorld), repeats=20_000)
