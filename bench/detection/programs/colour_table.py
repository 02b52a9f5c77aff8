# SPDX-License-Identifier: Apache-2.0
"""Frames of a heat map, coloured by a table that Matplotlib makes again for each frame."""

import functools

import matplotlib
import numpy as np

import harness

CATEGORY = "repeated native calls"
KIND = "store"


def table_of(name, levels):
    shades = np.linspace(0.0, 1.0, levels)  # waste: store
    return matplotlib.colormaps[name](shades, bytes=True)[:, :3]  # waste: store


def frames(rng, count, size=64):
    """A field of heat that spreads from sources which move."""
    field = np.zeros((size, size))
    for _ in range(count):
        row, column = rng.integers(1, size - 1, size=2)
        field[row, column] += 50.0
        field[1:-1, 1:-1] += 0.2 * (
            field[:-2, 1:-1] + field[2:, 1:-1] + field[1:-1, :-2] + field[1:-1, 2:] - 4.0 * field[1:-1, 1:-1]
        )
        yield field


def coloured(field, table):
    levels = np.minimum(field / 20.0 * len(table), len(table) - 1).astype(int)
    return table[levels]


def work(repeats, make_table):
    rng = np.random.default_rng(20)
    brightness = []
    for field in frames(rng, repeats):
        picture = coloured(field, make_table("viridis", 1024))
        brightness.append(picture.mean())
    return brightness


if __name__ == "__main__":
    cached = functools.lru_cache(maxsize=4)(table_of)
    harness.main(lambda n: work(n, table_of), lambda n: work(n, cached), repeats=39000)
