# SPDX-License-Identifier: Apache-2.0
"""The nearest neighbours of small pictures, with Python's own sum() over NumPy arrays in the distance."""

import numpy as np

import harness

CATEGORY = "API misuse"
KIND = "load"


def digits(rng, count):
    """Pictures of 8 x 8 pixels of ten kinds, as scikit-learn's digits are."""
    prototypes = rng.integers(0, 17, size=(10, 64)).astype(float)
    kinds = rng.integers(10, size=count)
    return prototypes[kinds] + rng.normal(scale=6.0, size=(count, 64)), kinds


def distance(a, b):
    return np.sqrt(sum((a - b) ** 2))  # waste: load


def distance_fixed(a, b):
    return np.sqrt(np.sum((a - b) ** 2))


def classify(pictures, kinds, picture, metric):
    distances = np.array([metric(other, picture) for other in pictures])
    nearest = kinds[np.argsort(distances)[:5]]
    return np.bincount(nearest, minlength=10).argmax()


def work(repeats, metric):
    rng = np.random.default_rng(9)
    pictures, kinds = digits(rng, 500)
    tests, _ = digits(rng, repeats)
    return [classify(pictures, kinds, picture, metric) for picture in tests]


if __name__ == "__main__":
    harness.main(lambda n: work(n, distance), lambda n: work(n, distance_fixed), repeats=2500)
