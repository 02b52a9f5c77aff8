# SPDX-License-Identifier: Apache-2.0
"""A detector of drift: each new sample replaces the oldest one of a window, and scikit-learn computes the whole kernel
matrix of the window again."""

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

import harness

CATEGORY = "inefficient algorithm"
KIND = "store"
WINDOW, FEATURES = 400, 8


def samples(rng, count):
    """A stream that drifts slowly."""
    return rng.normal(size=(count, FEATURES)) + np.linspace(0.0, 1.0, count)[:, None]


def kernels(stream):
    window = stream[:WINDOW].copy()
    for number in range(WINDOW, len(stream)):
        window[number % WINDOW] = stream[number]
        yield rbf_kernel(window, gamma=0.1), number  # waste: store


def kernels_fixed(stream):
    window = stream[:WINDOW].copy()
    kernel = rbf_kernel(window, gamma=0.1)
    for number in range(WINDOW, len(stream)):
        place = number % WINDOW
        window[place] = stream[number]
        kernel[place] = kernel[:, place] = rbf_kernel(window[place : place + 1], window, gamma=0.1)[0]
        yield kernel, number


def discrepancy(kernel, number):
    """How different the older half of the window is from the newer one (maximum mean discrepancy)."""
    signs = np.ones(WINDOW)
    signs[(np.arange(WINDOW // 2) + number + 1) % WINDOW] = -1.0
    return signs @ kernel @ signs


def watch(repeats, kernels_of):
    rng = np.random.default_rng(29)
    return [discrepancy(kernel, number) for kernel, number in kernels_of(samples(rng, WINDOW + repeats))]


if __name__ == "__main__":
    harness.main(lambda n: watch(n, kernels), lambda n: watch(n, kernels_fixed), repeats=12000)
