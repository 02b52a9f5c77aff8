# SPDX-License-Identifier: Apache-2.0
"""Faces of a batch are rotated by the same angle, whose matrix is made for each face anew (PieProf, listing 3:
Matplotlib's Affine2D)."""

import functools

import numpy as np

import harness

CATEGORY = "repeated native calls"
KIND = "store"


def rotation(theta):
    a = np.cos(theta)  # waste: store
    b = np.sin(theta)  # waste: store
    return np.array([[a, -b, 0.0], [b, a, 0.0], [0.0, 0.0, 1.0]], float)  # waste: store


class Transform:
    _identity = np.identity(3)

    def __init__(self):
        self._mtx = self._identity.copy()

    def rotate(self, theta, matrix_of):
        self._mtx = np.dot(matrix_of(theta), self._mtx)
        return self

    def apply(self, points):
        return points @ self._mtx.T


def work(repeats, matrix_of):
    """Each batch of faces, five landmarks each, has one angle."""
    rng = np.random.default_rng(15)
    faces = np.concatenate([rng.random((64, 5, 2)) - 0.5, np.ones((64, 5, 1))], axis=2)
    total = np.zeros((5, 3))
    for _ in range(repeats):
        theta = rng.uniform(-0.2, 0.2)
        turned = [Transform().rotate(theta, matrix_of).apply(face) for face in faces]
        total += turned[0] + turned[-1]
    return total


if __name__ == "__main__":
    cached = functools.lru_cache(maxsize=16)(rotation)
    harness.main(lambda n: work(n, rotation), lambda n: work(n, cached), repeats=26000)
