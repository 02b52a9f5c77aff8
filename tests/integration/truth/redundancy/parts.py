# SPDX-License-Identifier: Apache-2.0
"""Two calls of NumPy with a result of 16 kB. Of the first one three quarters stay: numbers that all differ. Of the
second one nine tenths stay, as things stay in the cells of a grid: it has 15 different values."""
import sys
import time

import numpy as np

LENGTH = 2048


def numbers(rng, values):
    values[-LENGTH // 4:] = rng.random(LENGTH // 4)
    return np.cbrt(values)  # numbers


def cells(rng, places):
    at = rng.integers(0, LENGTH - LENGTH // 10)
    places[at:at + LENGTH // 10] = rng.random(LENGTH // 10) * 15
    return np.floor_divide(places, 1.0)  # cells


def main(seconds):
    rng = np.random.default_rng(1)
    values, places = rng.random(LENGTH), rng.random(LENGTH) * 15
    until = time.process_time() + seconds
    while time.process_time() < until:
        for _ in range(3):
            numbers(rng, values)
        cells(rng, places)


if __name__ == "__main__":
    main(float(sys.argv[1]))
