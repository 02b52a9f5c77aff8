# SPDX-License-Identifier: Apache-2.0
"""Pressures in a growing water network: conjugate gradients, started from the pressures before each new pipe."""

import numpy as np
from scipy.sparse import coo_matrix
from scipy.spatial import cKDTree

import harness

NODES = 3_000


def pipes(rng):
    """Pairs of neighbouring nodes, and how well water flows between them."""
    places = rng.random((NODES, 2))
    _, near = cKDTree(places).query(places, k=5)
    pairs = np.stack([np.repeat(near[:, 0], 4), near[:, 1:].ravel()], axis=1)
    pairs = np.unique(np.sort(pairs, axis=1), axis=0)
    length = np.linalg.norm(places[pairs[:, 0]] - places[pairs[:, 1]], axis=1)
    return pairs, 0.01 / (length + 1e-3)


def system(pairs, flow):
    """Conductances as a matrix; every node leaks a little, which makes it definite."""
    one, other = pairs.T
    ones = np.ones(NODES)
    rows = np.concatenate([one, other, one, other, np.arange(NODES)])
    columns = np.concatenate([other, one, one, other, np.arange(NODES)])
    values = np.concatenate([-flow, -flow, flow, flow, 1e-3 * ones])
    return coo_matrix((values, (rows, columns)), shape=(NODES, NODES)).tocsr()


def solve(matrix, wanted, pressure, tolerance=1e-7):
    """Conjugate gradients, scaled by the diagonal; returns the pressures and the number of steps."""
    scale = 1.0 / matrix.diagonal()
    rest = wanted - matrix @ pressure
    scaled = scale * rest
    direction, product = scaled.copy(), rest @ scaled
    limit = tolerance * np.linalg.norm(wanted)
    for step in range(2_000):
        if np.linalg.norm(rest) < limit:
            break
        image = matrix @ direction
        length = product / (direction @ image)
        pressure = pressure + length * direction
        rest -= length * image
        scaled = scale * rest
        product, before = rest @ scaled, product
        direction = scaled + (product / before) * direction
    return pressure, step


def work(repeats):
    rng = np.random.default_rng(1854)
    pairs, flow = pipes(rng)
    start = len(flow)
    pairs = np.concatenate([pairs, rng.integers(NODES, size=(repeats, 2))])
    flow = np.concatenate([flow, rng.uniform(0.1, 1.0, size=repeats)])
    use = rng.gamma(2.0, size=NODES)
    pressure, found = np.zeros(NODES), []
    for count in range(start + 1, start + repeats + 1):
        pressure, steps = solve(system(pairs[:count], flow[:count]), use, pressure)
        found.append([pressure.max(), steps])
    return np.mean(found, axis=0)


if __name__ == "__main__":
    harness.main(work, repeats=1_600)
