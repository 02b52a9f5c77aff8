# SPDX-License-Identifier: Apache-2.0
"""Which oaks take each other's light? The distances of all pairs of trees are made, to keep those within 8 m."""

import numpy as np
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

import harness

# Of two thousand trees, each has a dozen neighbours; a tree of space finds them alone: an inefficient algorithm.
CATEGORY = "inefficient algorithm"
KIND = "store"
REACH = 8.0


class Stand:
    """Trees of a wood, in metres and centimetres."""

    def __init__(self, rng, trees, side):
        mothers = rng.uniform(0, side, size=(trees // 20, 2))
        self.places = (mothers[rng.integers(len(mothers), size=trees)] + rng.normal(0, 12.0, (trees, 2))) % side
        self.places += rng.uniform(0, 0.001, self.places.shape)
        self.widths = rng.gamma(6.0, 4.0, trees)

    def grow(self, pressure):
        self.widths += 0.6 * np.exp(-0.35 * pressure) * np.sqrt(self.widths / 20.0)

    def thin(self, rng, pressure):
        """Some of the most pressed trees die."""
        limit = np.quantile(pressure, 0.97)
        dies = (pressure > limit) & (rng.random(len(pressure)) < 0.7)
        self.places, self.widths = self.places[~dies], self.widths[~dies]

    def basal_area(self):
        return np.pi * np.square(self.widths / 200.0).sum()


def pairs(places):
    """(one, other, distance) of all neighbours."""
    distance = cdist(places, places)  # waste: store
    one, other = np.nonzero((distance < REACH) & (distance > 0.0))  # waste: store
    return one, other, distance[one, other]


def pairs_fixed(places):
    found = cKDTree(places).query_pairs(REACH, output_type="ndarray")
    one, other = np.concatenate([found, found[:, ::-1]]).T
    return one, other, np.linalg.norm(places[one] - places[other], axis=1)


def pressure(stand, pairing):
    """Hegyi's index."""
    one, other, distance = pairing(stand.places)
    load = stand.widths[other] / stand.widths[one] / (distance + 1.0)
    return np.bincount(one, weights=load, minlength=len(stand.widths))


def work(woods, pairing):
    rng, found = np.random.default_rng(91), []
    for _ in range(woods):
        stand = Stand(rng, 1600, 220.0)
        for _ in range(10):
            index = pressure(stand, pairing)
            stand.grow(index)
            stand.thin(rng, index)
        found.append([stand.basal_area(), len(stand.widths), index.mean(), np.median(stand.widths)])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, pairs), lambda n: work(n, pairs_fixed), repeats=60)
