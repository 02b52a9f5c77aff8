# SPDX-License-Identifier: Apache-2.0
"""Where to hang smoke detectors: each time the farthest place, with the distances to all chosen ones computed anew."""

import numpy as np
from scipy.spatial.distance import cdist

import harness

CATEGORY = "inefficient algorithm"
KIND = "store"
DETECTORS = 70


def ceiling(rng, places=2_500):
    """Places on the ceilings of a few halls, some higher than others."""
    halls = rng.uniform(0, 120, size=(6, 3)) * [1.0, 1.0, 0.1]
    sizes = rng.uniform(5, 30, size=(6, 3)) * [1.0, 1.0, 0.05]
    hall = rng.integers(6, size=places)
    return halls[hall] + rng.random((places, 3)) * sizes[hall]


def uncovered(places, chosen):
    """How far each place is from the nearest detector."""
    return cdist(places, places[chosen]).min(axis=1)  # waste: store


def spread(places, first):
    chosen = [first]
    while len(chosen) < DETECTORS:
        chosen.append(int(np.argmax(uncovered(places, chosen))))  # waste: store
    return chosen, uncovered(places, chosen).max()


def spread_fixed(places, first):
    chosen = [first]
    distance = uncovered(places, chosen)
    while len(chosen) < DETECTORS:
        chosen.append(int(np.argmax(distance)))
        distance = np.minimum(distance, uncovered(places, chosen[-1:]))
    return chosen, distance.max()


def work(repeats, choose):
    rng = np.random.default_rng(1890)
    found = []
    for _ in range(repeats):
        places = ceiling(rng)
        chosen, worst = choose(places, int(rng.integers(len(places))))
        found.append([*places[chosen].mean(axis=0), worst])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, spread), lambda n: work(n, spread_fixed), repeats=170)
