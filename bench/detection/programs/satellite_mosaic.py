# SPDX-License-Identifier: Apache-2.0
"""Overlapping satellite tiles are put into one picture pixel by pixel, the brighter one winning."""

import numpy as np

import harness

CATEGORY = "slice underutilization"
KIND = "load"
TILE, OVERLAP, ACROSS = 32, 8, 5


def tiles(rng):
    """{(row, column): picture}; the ground below is the same, the clouds are not."""
    found = {}
    for row in range(ACROSS):
        for column in range(ACROSS):
            found[row, column] = rng.integers(20, 120, size=(TILE, TILE))
            found[row, column][rng.random((TILE, TILE)) < 0.05] = 0
    return found


def paste(canvas, tile, top, left):
    for y in range(TILE):
        for x in range(TILE):
            if tile[y, x] > canvas[top + y, left + x]:  # waste: load
                canvas[top + y, left + x] = tile[y, x]  # waste: load


def paste_fixed(canvas, tile, top, left):
    part = canvas[top : top + TILE, left : left + TILE]
    np.maximum(part, tile, out=part)


def mosaic(pictures, put):
    size = (TILE - OVERLAP) * ACROSS + OVERLAP
    canvas = np.zeros((size, size), dtype=np.int64)
    for (row, column), tile in pictures.items():
        put(canvas, tile, row * (TILE - OVERLAP), column * (TILE - OVERLAP))
    return canvas


def work(repeats, put):
    rng = np.random.default_rng(109)
    found = []
    for _ in range(repeats):
        canvas = mosaic(tiles(rng), put)
        counts = np.bincount(canvas.ravel(), minlength=120)
        found.append([canvas.sum(), np.argmax(counts), counts[0]])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, paste), lambda n: work(n, paste_fixed), repeats=320)
