# SPDX-License-Identifier: Apache-2.0
"""Water in columns of soil by Richards' equation: Picard steps, each with a tridiagonal system of its own."""

import numpy as np
from scipy.linalg import solve_banded

import harness

LAYERS, DZ, DT = 400, 1.0, 40.0


class Soil:
    """Van Genuchten's curves."""

    def __init__(self, rng):
        self.residual, self.saturated = rng.uniform(0.03, 0.08, LAYERS), rng.uniform(0.38, 0.48, LAYERS)
        self.alpha, self.n = rng.uniform(0.01, 0.04, LAYERS), rng.uniform(1.3, 2.2, LAYERS)
        self.m = 1.0 - 1.0 / self.n
        self.ks = 10 ** rng.normal(-3.2, 0.3, LAYERS)

    def at(self, h):
        """Water content, conductivity and capacity at a pressure."""
        suction = (self.alpha * -np.minimum(h, -1e-3)) ** self.n
        filled = (1.0 + suction) ** -self.m
        bound = (suction / (1.0 + suction)) ** self.m
        k = self.ks * np.sqrt(filled) * (1.0 - bound) ** 2
        room = self.saturated - self.residual
        slope = room * self.m * self.n * suction / -np.minimum(h, -1e-3) * filled / (1.0 + suction)
        return self.residual + room * filled, k, slope + 1e-6


def step(soil, h, rain):
    old, guess = None, h
    for iteration in range(1, 30):
        water, k, c = soil.at(guess)
        old = water if old is None else old
        between = 0.5 * (k[1:] + k[:-1])
        bands = np.zeros((3, LAYERS))
        bands[0, 1:] = bands[2, :-1] = -between / DZ**2
        bands[1] = c / DT
        bands[1, :-1] += between / DZ**2
        bands[1, 1:] += between / DZ**2
        right = c / DT * guess - (water - old) / DT
        right[:-1] -= between / DZ
        right[1:] += between / DZ
        right[0] += rain / DZ
        right[-1] -= k[-1] / DZ
        new = solve_banded((1, 1), bands, right)
        moved = np.abs(new - guess).max()
        guess = guess + 0.8 * (new - guess)
        if moved < 1e-2:
            break
    return guess, iteration, water


def work(columns):
    rng, found = np.random.default_rng(1931), []
    for _ in range(columns):
        soil, h, steps = Soil(rng), np.linspace(-300.0, -80.0, LAYERS), 0
        for hour in range(120):
            rain = max(0.0, rng.normal(0.0, 4e-4)) if hour % 30 < 12 else 0.0
            h, needed, water = step(soil, h, rain)
            steps += needed
        found.append([steps, water.sum(), h.min()])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=100)
