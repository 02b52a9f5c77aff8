#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds the edges in a series of pictures; about 5 s.

usage: element_loop.py [SCALE]        (SCALE 0.1 takes a tenth of the time)

What a profile should show: nearly all of the time goes into one line, the innermost of convolve(),
and most of what NumPy does there is redundant. Each `picture[…]` is a call into NumPy that reads
the array's shape, strides and type again, which the call before had read, to fetch one number.
PieProf's authors call this slice underutilization. pieprof puts that line first among the
redundant loads and says what share of the run is wasted. The lines that draw the pictures and add
up the result work on whole arrays at a time and should not be found.

`sum(kernel[i, j] * picture[i:i + rows, j:j + columns] for i in … for j in …)` computes the same
from nine slices in a hundredth of the time.
"""
import sys

import numpy as np

SEED = 20260
SIZE, PICTURES = 200, 24
SOBEL = np.array([[1.0, 0.0, -1.0], [2.0, 0.0, -2.0], [1.0, 0.0, -1.0]])


def draw(rng):
    """A disc of random place and size on noise."""
    y, x = np.mgrid[:SIZE, :SIZE]
    centre_y, centre_x, radius = rng.uniform(0.3, 0.7, size=3) * SIZE * (1.0, 1.0, 0.5)
    disc = np.hypot(y - centre_y, x - centre_x) < radius
    return disc + rng.normal(scale=0.1, size=disc.shape)


def convolve(picture, kernel):
    """Each pixel of the result from its neighbourhood, the slow way."""
    rows, columns = picture.shape[0] - 2, picture.shape[1] - 2
    result = np.zeros((rows, columns))
    for row in range(rows):
        for column in range(columns):
            for i in range(3):
                for j in range(3):
                    result[row, column] += kernel[i, j] * picture[row + i, column + j]
    return result


def main():
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    rng = np.random.default_rng(SEED)
    found = 0
    for _ in range(max(1, int(PICTURES * scale))):
        picture = draw(rng)
        edges = np.hypot(convolve(picture, SOBEL), convolve(picture, SOBEL.T))
        found += np.count_nonzero(edges > 2.0)
    print(f"pixels on edges: {found}")


if __name__ == "__main__":
    main()
