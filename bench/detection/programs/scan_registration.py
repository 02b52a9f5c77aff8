# SPDX-License-Identifier: Apache-2.0
"""Laser scans are aligned with a model of a hall (iterative closest points); each step sorts the model into a tree."""

import numpy as np
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

import harness

CATEGORY = "loop-invariant computation"
KIND = "store"


def rigid(source, target):
    """The rotation and the shift that bring source next to target (Kabsch)."""
    centre, goal = source.mean(axis=0), target.mean(axis=0)
    u, _, vt = np.linalg.svd((source - centre).T @ (target - goal))
    flip = np.diag([1.0, 1.0, np.sign(np.linalg.det(u @ vt))])
    rotation = (u @ flip @ vt).T
    return rotation, goal - rotation @ centre


def align(model, scan, steps):
    for _ in range(steps):
        tree = cKDTree(model)  # waste: store
        _, nearest = tree.query(scan)
        rotation, shift = rigid(scan, model[nearest])
        scan = scan @ rotation.T + shift
    return scan


def align_fixed(model, scan, steps):
    tree = cKDTree(model)
    for _ in range(steps):
        _, nearest = tree.query(scan)
        rotation, shift = rigid(scan, model[nearest])
        scan = scan @ rotation.T + shift
    return scan


def hall(rng, points):
    """The floor and two walls, slightly rough."""
    places = rng.uniform(size=(points, 3)) * [20.0, 12.0, 4.0]
    places[np.arange(points), rng.integers(3, size=points)] = 0.0
    return places + rng.normal(scale=0.01, size=places.shape)


def work(repeats, method):
    rng = np.random.default_rng(56)
    model = hall(rng, 20000)
    found = []
    for _ in range(repeats):
        turn = Rotation.from_rotvec(rng.normal(scale=0.02, size=3))
        scan = turn.apply(model[rng.choice(len(model), 400, replace=False)]) + rng.normal(scale=0.1, size=3)
        found.append(method(model, scan, 20).mean(axis=0))
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, align), lambda n: work(n, align_fixed), repeats=150)
