# SPDX-License-Identifier: Apache-2.0
"""How scores of borrowers move over the years: each year's transition matrix is a power made from the start."""

import numpy as np

import harness

CATEGORY = "inefficient algorithm"
KIND = "store"
RATINGS = 80


def transitions(rng):
    distance = np.abs(np.subtract.outer(np.arange(RATINGS), np.arange(RATINGS)))
    matrix = np.exp(-1.5 * distance) * rng.uniform(0.5, 1.5, size=(RATINGS, RATINGS))
    matrix[-1] = np.eye(RATINGS)[-1]
    return matrix / matrix.sum(axis=1, keepdims=True)


def defaults(matrix, start, periods):
    shares = []
    for period in range(1, periods + 1):
        power = np.linalg.matrix_power(matrix, period)  # waste: store
        shares.append((start @ power)[-1])
    return shares


def defaults_fixed(matrix, start, periods):
    shares = []
    for _ in range(periods):
        start = start @ matrix
        shares.append(start[-1])
    return shares


def work(repeats, follow):
    rng = np.random.default_rng(27)
    losses = []
    for _ in range(repeats):
        start = rng.dirichlet(np.ones(RATINGS))
        losses.append(np.sum(follow(transitions(rng), start, 120)))
    return losses


if __name__ == "__main__":
    harness.main(lambda n: work(n, defaults), lambda n: work(n, defaults_fixed), repeats=170)
