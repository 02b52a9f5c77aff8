# SPDX-License-Identifier: Apache-2.0
"""Stars of one picture matched with those of the next: trees of SciPy, one for each picture, asked all at once."""

import numpy as np
from scipy.spatial import cKDTree

import harness

STARS = 20_000


def moved(rng, stars):
    """The next picture: turned a little, shifted, with errors, and some stars are new."""
    angle = rng.uniform(-0.01, 0.01)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    after = stars @ turn + rng.uniform(-0.002, 0.002, size=2) + rng.normal(scale=1e-4, size=stars.shape)
    fresh = rng.random(STARS) < 0.05
    after[fresh] = rng.random((fresh.sum(), 2))
    return after


def work(repeats):
    rng = np.random.default_rng(209)
    stars = rng.random((STARS, 2))
    found = []
    for _ in range(repeats):
        after = moved(rng, stars)
        tree = cKDTree(after)
        distances, places = tree.query(stars, k=2)
        is_sure = distances[:, 0] < 0.5 * distances[:, 1]
        shift = (after[places[is_sure, 0]] - stars[is_sure]).mean(axis=0)
        found.append([is_sure.sum(), *shift, distances.mean()])
        stars = after
    return found


if __name__ == "__main__":
    harness.main(work, repeats=150)
