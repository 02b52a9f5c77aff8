# SPDX-License-Identifier: Apache-2.0
"""Do tastes agree? Rank correlations of pairs of long lists, new ones each time, by sorting.

Each sort writes a whole array of indices anew, into memory that held the indices of the sort before.
"""

import numpy as np

import harness

LENGTH = 60_000
PLACES = np.arange(LENGTH) - 0.5 * (LENGTH - 1)  # their mean is 0
SQUARES = PLACES @ PLACES


def ranks(values):
    order = np.argsort(values, kind="stable")
    found = np.empty(LENGTH)
    found[order] = PLACES
    return found


def correlation(first, second):
    return ranks(first) @ ranks(second) / SQUARES


def work(repeats):
    rng = np.random.default_rng(206)
    found = []
    for _ in range(repeats):
        common = rng.normal(size=LENGTH)
        first = common + rng.normal(size=LENGTH)
        second = common + rng.gamma(2.0, size=LENGTH)
        found.append(correlation(first, second))
    return found


if __name__ == "__main__":
    harness.main(work, repeats=300)
