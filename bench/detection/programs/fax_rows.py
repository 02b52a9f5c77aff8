# SPDX-License-Identifier: Apache-2.0
"""Faxes of an archive: runs of white and black become pixels, which are written one by one into a row of bytes."""

import random
import zlib

import harness

# A run is a slice of the row and can be set at once: slice underutilization.
CATEGORY = "slice underutilization"
KIND = "store"
WIDTH, HEIGHT = 864, 220
WHITE, BLACK = 255, 0


def sketch_row(rng, before):
    """Runs of a row, much like those of the row before it."""
    if before is None or rng.random() < 0.15:
        cuts = sorted(rng.sample(range(1, WIDTH), rng.randrange(2, 24)))
    else:
        cuts = sorted({min(WIDTH - 1, max(1, cut + rng.choice((-1, 0, 0, 1)))) for cut in before})
    return cuts


def encode(rng):
    """A page as bytes: each row as a count of runs and their lengths, two bytes each."""
    page, cuts = bytearray(), None
    for _ in range(HEIGHT):
        cuts = sketch_row(rng, cuts)
        edges = [0, *cuts, WIDTH]
        page.append(len(edges) - 1)
        for first, after in zip(edges, edges[1:]):
            page += (after - first).to_bytes(2, "big")
    return zlib.compress(bytes(page))


class Page:
    def __init__(self, code):
        self.code = zlib.decompress(code)
        self.at = 0
        self.rows = []

    def runs(self):
        count = self.code[self.at]
        self.at += 1
        for _ in range(count):
            yield int.from_bytes(self.code[self.at:self.at + 2], "big")
            self.at += 2

    def decode(self, paint):
        while self.at < len(self.code):
            row, at, colour = bytearray(WIDTH), 0, WHITE
            for length in self.runs():
                paint(row, at, length, colour)
                at += length
                colour = BLACK if colour == WHITE else WHITE
            self.rows.append(row)
        return self

    def is_blank(self, number):
        return BLACK not in self.rows[number]

    def packed(self):
        return zlib.compress(b"".join(self.rows), 1)


def paint(row, at, length, colour):
    for x in range(at, at + length):
        row[x] = colour  # waste: store


def paint_fixed(row, at, length, colour):
    row[at:at + length] = bytes((colour,)) * length


def darkness(page):
    return sum(row.count(BLACK) for row in page.rows) / (WIDTH * HEIGHT)


def work(pages, painting):
    rng, found = random.Random(82), []
    for _ in range(pages):
        page = Page(encode(rng)).decode(painting)
        packed = page.packed()
        found.append([darkness(page), len(packed), zlib.crc32(packed) % 10007, sum(map(page.is_blank, range(HEIGHT)))])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, paint), lambda n: work(n, paint_fixed), repeats=1200)
