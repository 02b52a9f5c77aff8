# SPDX-License-Identifier: Apache-2.0
"""Thumbnails of photographs, interpolated pixel by pixel."""

import numpy as np
from scipy import ndimage

import harness

CATEGORY = "slice underutilization"
KIND = "load"


def photograph(rng, height, width):
    return ndimage.gaussian_filter(rng.random((height, width)), 3.0)


def grid(size, wanted):
    """Where the wanted pixels lie among `size` ones: the pixel before and the fraction beyond it."""
    places = np.linspace(0.0, size - 1.001, wanted)
    return places.astype(int), places % 1.0


def resize(image, height, width):
    rows, row_parts = grid(image.shape[0], height)
    columns, column_parts = grid(image.shape[1], width)
    result = np.empty((height, width))
    for y in range(height):
        above, below, fy = image[rows[y]], image[rows[y] + 1], row_parts[y]
        for x in range(width):
            c, fx = columns[x], column_parts[x]  # waste: load
            upper = above[c] * (1.0 - fx) + above[c + 1] * fx  # waste: load
            lower = below[c] * (1.0 - fx) + below[c + 1] * fx  # waste: load
            result[y, x] = upper * (1.0 - fy) + lower * fy  # waste: load
    return result


def resize_fixed(image, height, width):
    rows, fy = grid(image.shape[0], height)
    columns, fx = grid(image.shape[1], width)
    r, c, fy = rows[:, None], columns[None, :], fy[:, None]
    upper = image[r, c] * (1.0 - fx) + image[r, c + 1] * fx
    lower = image[r + 1, c] * (1.0 - fx) + image[r + 1, c + 1] * fx
    return upper * (1.0 - fy) + lower * fy


def work(repeats, shrink):
    rng = np.random.default_rng(7)
    return [shrink(photograph(rng, 480, 640), 96, 128).std() for _ in range(repeats)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, resize), lambda n: work(n, resize_fixed), repeats=280)
