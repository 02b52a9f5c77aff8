# SPDX-License-Identifier: Apache-2.0
"""Orbits of three bodies from many random starts at once; each step of the leapfrog needs the one before."""

import numpy as np

import harness

STARTS = 400
STEP = 2e-3
PAIRS = ((0, 1), (0, 2), (1, 2))


def starts(rng):
    """Positions and velocities of three bodies in a plane, at rest as a whole; and their masses."""
    places = rng.normal(size=(3, STARTS, 2))
    speeds = rng.normal(scale=0.4, size=(3, STARTS, 2))
    masses = rng.uniform(0.5, 2.0, size=(3, STARTS, 1))
    return places, speeds - (masses * speeds).sum(axis=0) / masses.sum(axis=0), masses


def pulls(places, masses, out):
    out[:] = 0.0
    for one, other in PAIRS:
        way = places[other] - places[one]
        square = np.einsum("ij,ij->i", way, way)[:, None] + 1e-2
        pull = way / (square * np.sqrt(square))
        out[one] += masses[other] * pull
        out[other] -= masses[one] * pull
    return out


def energy(places, speeds, masses):
    total = 0.5 * (masses * speeds**2).sum(axis=(0, 2))
    for one, other in PAIRS:
        far = np.sqrt(((places[one] - places[other]) ** 2).sum(axis=1) + 1e-2)
        total -= (masses[one] * masses[other])[:, 0] / far
    return total


def work(repeats):
    rng = np.random.default_rng(1687)
    places, speeds, masses = starts(rng)
    first = energy(places, speeds, masses)
    force = pulls(places, masses, np.empty_like(places))
    widest = []
    for _ in range(repeats):
        for _ in range(50):
            speeds += 0.5 * STEP * force
            places += STEP * speeds
            force = pulls(places, masses, force)
            speeds += 0.5 * STEP * force
        widest.append(np.median(np.linalg.norm(places[0] - places[1], axis=1)))
    lost = np.abs(energy(places, speeds, masses) - first)
    return [*widest, np.mean(lost < 0.05)]


if __name__ == "__main__":
    harness.main(work, repeats=1_100)
