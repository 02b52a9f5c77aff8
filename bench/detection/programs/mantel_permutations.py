# SPDX-License-Identifier: Apache-2.0
"""Do villages far apart speak differently? A Mantel test that measures all distances for each permutation."""

import numpy as np

import harness

CATEGORY = "loop-invariant computation"
KIND = "load"
VILLAGES, EARTH_KM = 220, 6371.0


def kilometres(places):
    """Of each pair, on the ground; places are degrees north and east."""
    north, east = np.radians(places).T
    half = np.sin((north[:, None] - north) / 2.0) ** 2
    half += np.cos(north[:, None]) * np.cos(north) * np.sin((east[:, None] - east) / 2.0) ** 2
    return 2.0 * EARTH_KM * np.arcsin(np.sqrt(half))


def agreement(one, other):
    one, other = one - one.mean(), other - other.mean()
    return one @ other / np.sqrt((one @ one) * (other @ other))


def mantel(rng, places, words, permutations):
    """How well the distances agree, and how often chance does better."""
    upper = np.triu_indices(len(places), 1)
    found = agreement(kilometres(places)[upper], words[upper])
    better = 0
    for _ in range(permutations):
        order = rng.permutation(len(places))
        shuffled = words[np.ix_(order, order)]
        apart = kilometres(places)  # waste: load
        better += agreement(apart[upper], shuffled[upper]) >= found
    return [found, (better + 1) / (permutations + 1)]


def mantel_fixed(rng, places, words, permutations):
    upper = np.triu_indices(len(places), 1)
    apart = kilometres(places)[upper]
    found = agreement(apart, words[upper])
    better = 0
    for _ in range(permutations):
        order = rng.permutation(len(places))
        shuffled = words[np.ix_(order, order)]
        better += agreement(apart, shuffled[upper]) >= found
    return [found, (better + 1) / (permutations + 1)]


def study(rng):
    """Places and the differences of word lists, which hardly depend on the places."""
    places = np.column_stack([rng.uniform(45.0, 52.0, VILLAGES), rng.uniform(6.0, 16.0, VILLAGES)])
    habits = np.column_stack([0.1 * places, rng.normal(size=(VILLAGES, 6))])
    return places, np.sqrt(np.square(habits[:, None] - habits).sum(axis=2))


def work(repeats, test):
    rng = np.random.default_rng(719)
    return [test(rng, *study(rng), 199) for _ in range(repeats)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, mantel), lambda n: work(n, mantel_fixed), repeats=36)
