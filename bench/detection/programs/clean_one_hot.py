# SPDX-License-Identifier: Apache-2.0
"""What shop, weekday and weather add to the sales: least squares, for one month of rows after the other.

Categories are written as one-hot rows, so nearly all of a design matrix is zeros, as was the one before it in the same
memory. The solver needs the whole matrix.
"""

import numpy as np

import harness

ROWS, SIZES = 6000, (40, 7, 5)
STARTS = np.cumsum((0, *SIZES))
EACH_ROW = np.arange(ROWS)


def month(rng):
    codes = [rng.integers(size, size=ROWS) for size in SIZES]
    prices = rng.uniform(0.5, 3.0, size=ROWS)
    return codes, prices


def design(codes, prices):
    matrix = np.zeros((ROWS, STARTS[-1] + 1))
    for start, code in zip(STARTS, codes):
        matrix[EACH_ROW, start + code] = 1.0
    matrix[:, -1] = prices
    return matrix


def work(repeats):
    rng = np.random.default_rng(205)
    truth = rng.normal(size=STARTS[-1] + 1)
    found = []
    for _ in range(repeats):
        matrix = design(*month(rng))
        sold = matrix @ truth + rng.normal(scale=0.3, size=ROWS)
        square = matrix.T @ matrix
        square.flat[:: len(square) + 1] += 0.1
        found.append(np.linalg.solve(square, matrix.T @ sold)[-5:])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=2500)
