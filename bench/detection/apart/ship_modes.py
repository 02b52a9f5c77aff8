# SPDX-License-Identifier: Apache-2.0
"""Ships in harbour: a hull's modes, as it is loaded, give the response to waves of each gauge and hour."""

import numpy as np

import harness

# Eigenvalues are asked of a few states of loading, over and over again: repeated native calls.
CATEGORY = "repeated native calls"
KIND = "store"
NODES = 36
FREQUENCIES = np.linspace(0.3, 1.8, 24)
WAVES = FREQUENCIES[:, None]
STATES = ("ballast", "half", "full", "homogeneous")


class Hull:
    """A beam in water: bending stiffness along the ship, and masses by its state of loading."""

    def __init__(self, rng):
        self.length = float(rng.uniform(140, 280))
        place = np.linspace(0, 1, NODES)
        self.places = place * self.length
        section = 0.25 + np.sin(np.pi * place) ** 0.5
        bend = np.diff(np.eye(NODES), 2, axis=0)
        self.stiffness = bend.T @ (section[1:-1, None] * bend) * 4e3 + 0.5 * np.eye(NODES)
        light = 1.0 + 0.5 * section
        cargo = np.round(rng.uniform(0.5, 2.0, NODES), 2)
        self.masses = {
            "ballast": light + 0.4 * (place < 0.2) + 0.4 * (place > 0.8),
            "half": light + 0.5 * cargo,
            "full": light + cargo,
            "homogeneous": light + cargo.mean(),
        }
        self.kept = {}

    def modes(self, state):
        root = 1 / np.sqrt(self.masses[state])
        squares, shapes = np.linalg.eigh(root[:, None] * self.stiffness * root)  # waste: store
        return np.sqrt(squares), root[:, None] * shapes

    def modes_fixed(self, state):
        if state not in self.kept:
            self.kept[state] = self.modes(state)
        return self.kept[state]


def sea(rng):
    """Height and period of the waves, and where they come from."""
    height = float(rng.gamma(2.0, 0.6)) + 0.2
    return height, 4.0 + 3.0 * height ** 0.5 + float(rng.uniform(-0.5, 0.5)), float(rng.uniform(0, np.pi))


def spectrum(height, period):
    """Pierson and Moskowitz."""
    peak = 2 * np.pi / period
    return 0.3125 * height ** 2 * peak ** 4 / FREQUENCIES ** 5 * np.exp(-1.25 * (peak / FREQUENCIES) ** 4)


def load(hull, angle):
    """Pressure along the hull for each frequency of the waves."""
    number = FREQUENCIES ** 2 / 9.81 * np.cos(angle)
    return np.exp(1j * number[:, None] * hull.places)


def response(hull, modes, waves):
    """Standard deviation of the bending along the ship."""
    height, period, angle = waves
    own, shapes = modes
    own, shapes = own[:10], shapes[:, :10]
    forces = load(hull, angle) @ shapes
    amplitudes = forces / (own ** 2 - WAVES ** 2 + 0.06j * own * WAVES)
    bending = np.diff(amplitudes @ shapes.T, 2, axis=1)
    power = (bending.real ** 2 + bending.imag ** 2) * spectrum(height, period)[:, None]
    return np.sqrt(power.sum(axis=0) * (FREQUENCIES[1] - FREQUENCIES[0]))


def voyage(rng, hull, hours, modes_of):
    """Loading changes now and then, the sea does each hour; the worst places are what counts."""
    state, worst, places, damage = "full", 0.0, np.zeros(NODES - 2), 0.0
    for _ in range(hours):
        if rng.random() < 0.05:
            state = STATES[int(rng.integers(len(STATES)))]
        bending = response(hull, modes_of(hull, state), sea(rng))
        places += bending
        worst = max(worst, float(bending.max()))
        damage += float((bending ** 3).sum())
    return [int(places.argmax()), round(worst, 7), round(float(places.sum()), 5), round(damage, 7)]


def work(ships, modes_of):
    rng = np.random.default_rng(7208)
    return [voyage(rng, Hull(rng), 150, modes_of) for _ in range(ships)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, Hull.modes), lambda n: work(n, Hull.modes_fixed), repeats=165)
