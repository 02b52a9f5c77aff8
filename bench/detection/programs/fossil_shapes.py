# SPDX-License-Identifier: Apache-2.0
"""Compares outlines of fossils: scipy's distance of two vectors is called for every pair of specimen and type."""

import numpy as np
from scipy.spatial import distance

import harness

CATEGORY = "API misuse"
KIND = "load"
TYPES, HARMONICS = 24, 16


def outlines(rng, types, count):
    """Fourier descriptors of specimens, and the type each belongs to."""
    kind = rng.integers(len(types), size=count)
    wear = rng.normal(scale=0.5, size=(count, types.shape[1]))
    return types[kind] + wear / np.arange(1, types.shape[1] + 1), kind


def distances(specimens, types):
    table = np.empty((len(specimens), len(types)))
    for i, specimen in enumerate(specimens):
        for j, kind in enumerate(types):
            table[i, j] = distance.euclidean(specimen, kind)  # waste: load
    return table


def distances_fixed(specimens, types):
    return distance.cdist(specimens, types)


def assign(table):
    """The nearest type of each specimen, and whether the second is clearly farther."""
    nearest = table.argmin(axis=1)
    first, second = np.partition(table, 1, axis=1)[:, :2].T
    return nearest, second > 1.2 * first


def work(repeats, compare):
    rng = np.random.default_rng(1859)
    types = rng.normal(size=(TYPES, 4 * HARMONICS)) / np.arange(1, 4 * HARMONICS + 1) ** 0.7
    found = []
    for _ in range(repeats):
        specimens, kind = outlines(rng, types, 250)
        nearest, is_sure = assign(compare(specimens, types))
        found.append([(nearest == kind).mean(), is_sure.mean()])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, distances), lambda n: work(n, distances_fixed), repeats=150)
