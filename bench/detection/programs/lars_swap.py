# SPDX-License-Identifier: Apache-2.0
"""Backward selection of features: a dropped column is moved behind the active ones by swapping neighbours (PieProf,
listing 4: lars_path of scikit-learn)."""

import numpy as np
from scipy.linalg import get_blas_funcs

import harness

CATEGORY = "inefficient algorithm"
KIND = "store"


def move_to_end(X, indices, place, active):
    (swap,) = get_blas_funcs(("swap",), (X,))
    for i in range(place, active - 1):
        X.T[i], X.T[i + 1] = swap(X.T[i], X.T[i + 1])  # waste: store
        indices[i], indices[i + 1] = indices[i + 1], indices[i]


def move_to_end_fixed(X, indices, place, active):
    column = X.T[place].copy()
    X.T[place : active - 1] = X.T[place + 1 : active]
    X.T[active - 1] = column
    indices.insert(active - 1, indices.pop(place))


def select(X, y, move, keep):
    """Drops the feature that says least about y, again and again; returns those that are left."""
    X, indices = np.array(X, order="F"), list(range(X.shape[1]))
    residual = y.copy()
    for active in range(X.shape[1], keep, -1):
        scores = np.abs(residual @ X[:, :active])
        place = int(np.argmin(scores))
        residual -= 1e-3 * scores[place] * X[:, place]
        move(X, indices, place, active)
    return np.sort(indices[:keep])


def work(repeats, move):
    rng = np.random.default_rng(22)
    chosen = []
    for _ in range(repeats):
        X = rng.normal(size=(400, 300))
        y = X[:, :5].sum(axis=1) + rng.normal(size=400)
        chosen.append(select(X, y, move, keep=10))
    return chosen


if __name__ == "__main__":
    harness.main(lambda n: work(n, move_to_end), lambda n: work(n, move_to_end_fixed), repeats=300)
