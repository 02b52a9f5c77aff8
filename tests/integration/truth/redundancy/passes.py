# SPDX-License-Identifier: Apache-2.0
"""passes.py NAME ROUNDS: a loop that reads an array of known size in each round, and needs to or not."""
import json
import sys

import numpy as np

ITEMS = 1_000_000


def groups(rounds):
    """One pass of bincount() would do."""
    labels = np.random.default_rng(1).integers(0, rounds, ITEMS).astype(np.int32)
    counts = np.zeros(rounds, dtype=np.int64)
    for k in range(rounds):
        counts[k] = (labels == k).sum()  # groups
    assert counts.sum() == ITEMS
    return labels.nbytes


def descent(rounds):
    """Each round needs the one before."""
    rng = np.random.default_rng(1)
    x, y, w = rng.random((ITEMS // 8, 8)), rng.random(ITEMS // 8), np.zeros(8)
    for _ in range(rounds):
        off = x @ w - y  # descent
        w -= 0.01 * (x.T @ off) / len(y)
    return x.nbytes


def changing(rounds):
    """The array is another one in each round, in the same place."""
    values = np.random.default_rng(1).random(ITEMS)
    for k in range(rounds):
        found = (values > 0.5).sum()  # changing
        np.add(values, 1e-5 * (k % 7 - 3), out=values)
    assert found > 0
    return values.nbytes


def scaled(rounds):
    """Each round makes another array of all values."""
    values = np.random.default_rng(1).random(ITEMS)
    for k in range(rounds):
        made = values * (k / rounds)  # scaled
    return made.nbytes


def search(rounds):
    """Each call reads some twenty words of a large array."""
    values = np.sort(np.random.default_rng(1).random(ITEMS))
    for k in range(rounds):
        values.searchsorted(k / rounds)  # search
    return values.nbytes


if __name__ == "__main__":
    name, rounds = sys.argv[1], int(sys.argv[2])
    print(json.dumps({"rounds": rounds, "bytes": globals()[name](rounds)}))
