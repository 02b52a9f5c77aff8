# SPDX-License-Identifier: Apache-2.0
"""Monte Carlo simulation of a fluid: one particle moves, and all distances and energies are computed again."""

import numpy as np
from scipy.spatial.distance import cdist

import harness

CATEGORY = "inefficient algorithm"
KIND = "store"
PARTICLES, TEMPERATURE = 100, 1.0


def pair_energies(distances):
    """Lennard-Jones, softened at the core."""
    inverse = 1.0 / (distances**2 + 0.3) ** 3  # waste: store
    return 4.0 * (inverse * inverse - inverse)  # waste: store


class System:
    """Knows the energy of the whole for places of all particles."""

    def __init__(self, places):
        self.places = places
        self.energy = self.total(places)

    @staticmethod
    def total(places):
        energies = pair_energies(cdist(places, places))  # waste: store
        return 0.5 * (energies.sum() - np.trace(energies))

    def after(self, which, place):
        places = self.places.copy()
        places[which] = place
        return self.total(places)

    def move(self, which, place, energy):
        self.places[which], self.energy = place, energy


class FixedSystem(System):
    def of_one(self, which, place):
        energies = pair_energies(cdist(place[None, :], self.places)[0])
        return energies.sum() - energies[which]

    def after(self, which, place):
        return self.energy + self.of_one(which, place) - self.of_one(which, self.places[which])


def simulate(repeats, kind):
    rng = np.random.default_rng(24)
    system = kind(rng.random((PARTICLES, 3)) * 6.0)
    energies = []
    for _ in range(repeats):
        which = rng.integers(PARTICLES)
        place = system.places[which] + rng.normal(scale=0.2, size=3)
        energy = system.after(which, place)
        if rng.random() < np.exp(min(0.0, (system.energy - energy) / TEMPERATURE)):
            system.move(which, place, energy)
        energies.append(system.energy)
    return energies


if __name__ == "__main__":
    harness.main(lambda n: simulate(n, System), lambda n: simulate(n, FixedSystem), repeats=96000)
