# SPDX-License-Identifier: Apache-2.0
"""Two lists of customers compared: sorted, made unique, searched; all with whole arrays."""

import numpy as np

import harness


def work(repeats):
    rng = np.random.default_rng(110)
    found = []
    for _ in range(repeats):
        old, new = rng.integers(2_000_000, size=(2, 500_000))
        known, counts = np.unique(old, return_counts=True)
        places = np.searchsorted(known, np.sort(new))
        order = np.argsort(counts, kind="stable")
        found.append([len(known), places.mean(), known[order[-10:]].sum()])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=120)
