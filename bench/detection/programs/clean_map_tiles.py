# SPDX-License-Identifier: Apache-2.0
"""Tiles of a map are kept compressed; those used last are also kept unpacked, up to a number, for whoever looks again.

Most looks find an unpacked tile; the others unpack one, mostly another one than the last time. It runs for 30 seconds.
"""

import array
import collections
import random
import zlib

import harness

SIDE, TILE, KEPT = 24, 64, 120


def packed_map(rng):
    """{(column, row): compressed heights of TILE x TILE points, an array of 16 bits each}"""
    tiles = {}
    for column in range(SIDE):
        for row in range(SIDE):
            ground, slope = rng.randrange(3000), rng.randrange(1, 9)
            noise = rng.randbytes(TILE * TILE)
            heights = array.array("H", (ground + slope * (i // TILE) + (value >> 4) for i, value in enumerate(noise)))
            tiles[column, row] = zlib.compress(heights, 6)
    return tiles


class Tiles:
    def __init__(self, packed):
        self.packed = packed
        self.unpacked = collections.OrderedDict()  # those used last at the end
        self.misses = 0

    def get(self, place):
        tile = self.unpacked.get(place)
        if tile is not None:
            self.unpacked.move_to_end(place)
            return tile
        self.misses += 1
        tile = self.unpacked[place] = memoryview(zlib.decompress(self.packed[place])).cast("H")
        if len(self.unpacked) > KEPT:
            self.unpacked.popitem(last=False)
        return tile

    def height(self, x, y):
        tile = self.get((x // TILE, y // TILE))
        return tile[TILE * (y % TILE) + x % TILE]


def ramble(rng, tiles):
    """The highest place of a way that strays from a point anywhere on the map, and all metres up."""
    size = SIDE * TILE
    x, y = rng.randrange(size), rng.randrange(size)
    last = highest = tiles.height(x, y)
    up = 0
    for _ in range(200):
        x = (x + rng.randrange(-20, 21)) % size
        y = (y + rng.randrange(-20, 21)) % size
        height = tiles.height(x, y)
        up += max(height - last, 0)
        highest, last = max(highest, height), height
    return highest, up


def work(repeats):
    rng = random.Random(502)
    tiles = Tiles(packed_map(rng))
    found = [ramble(rng, tiles) for _ in range(repeats)]
    return [*found, (len(tiles.unpacked), tiles.misses)]


if __name__ == "__main__":
    harness.main(work, repeats=25_000)
