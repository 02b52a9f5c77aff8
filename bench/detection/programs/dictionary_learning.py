# SPDX-License-Identifier: Apache-2.0
"""Deep dictionary learning: A = D (X - D'A) in a loop, in which D X and D D' never change (PieProf, listing 7)."""

import numpy as np

import harness

CATEGORY = "loop-invariant computation"
KIND = "store"
ATOMS, ITERATIONS = 96, 50


def dictionary(rng):
    matrix = rng.normal(size=(ATOMS, ATOMS))
    return 0.9 * matrix / np.linalg.norm(matrix, 2)


def learn(D, X):
    A = np.zeros(X.shape)
    for _ in range(ITERATIONS):
        A = D @ X - D @ D.T @ A  # waste: store
    return A


def learn_fixed(D, X):
    A = np.zeros(X.shape)
    DX, DD = D @ X, D @ D.T
    for _ in range(ITERATIONS):
        A = DX - DD @ A
    return A


def work(repeats, learner):
    """Codes of patches of an image at several scales."""
    rng = np.random.default_rng(30)
    norms = []
    for _ in range(repeats):
        patches = rng.normal(size=(ATOMS, ATOMS))
        norms.append(np.linalg.norm(learner(dictionary(rng), patches)))
    return norms


if __name__ == "__main__":
    harness.main(lambda n: work(n, learn), lambda n: work(n, learn_fixed), repeats=1100)
