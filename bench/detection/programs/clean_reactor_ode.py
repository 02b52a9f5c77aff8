# SPDX-License-Identifier: Apache-2.0
"""Batches in a stirred reactor: a stiff set of reactions at another temperature each, solved with its Jacobian."""

import numpy as np
from scipy.integrate import solve_ivp

import harness

GAS = 8.314
FACTORS = np.array([2.0e6, 5.0e9, 4.0e4])
ENERGIES = np.array([45_000.0, 62_000.0, 38_000.0])


class Reactor:
    """A + B -> C, 2 C -> D, C -> A; the heat of reaction warms the batch, and the jacket cools it."""

    def __init__(self, jacket, cooling):
        self.jacket = jacket
        self.cooling = cooling

    def rates(self, state):
        a, b, c, _, temperature = state
        speeds = FACTORS * np.exp(-ENERGIES / (GAS * temperature))
        return speeds, np.array([speeds[0] * a * b, speeds[1] * c * c, speeds[2] * c])

    def change(self, _, state):
        _, (first, second, third) = self.rates(state)
        warming = 60.0 * first + 25.0 * second + self.cooling * (self.jacket - state[4])
        return np.array([third - first, -first, first - 2 * second - third, second, warming])

    def jacobian(self, _, state):
        a, b, c, _, temperature = state
        speeds, (first, second, third) = self.rates(state)
        by_heat = ENERGIES / (GAS * temperature**2) * [first, second, third]
        parts = np.array([
            [speeds[0] * b, speeds[0] * a, 0.0, 0.0, by_heat[0]],
            [0.0, 0.0, 2 * speeds[1] * c, 0.0, by_heat[1]],
            [0.0, 0.0, speeds[2], 0.0, by_heat[2]],
        ])  # fmt: skip
        first, second, third = parts
        warming = 60.0 * first + 25.0 * second
        warming[4] -= self.cooling
        return np.array([third - first, -first, first - 2 * second - third, second, warming])


def batch(rng):
    reactor = Reactor(rng.uniform(290, 330), rng.uniform(0.05, 0.4))
    start = [rng.uniform(0.5, 1.5), rng.uniform(0.5, 1.5), 0.0, 0.0, rng.uniform(295, 315)]
    done = solve_ivp(reactor.change, (0.0, 600.0), start, method="BDF", jac=reactor.jacobian, rtol=1e-6, atol=1e-9)
    return [*done.y[:, -1], done.y[4].max()]


def work(repeats):
    rng = np.random.default_rng(1889)
    return [batch(rng) for _ in range(repeats)]


if __name__ == "__main__":
    harness.main(work, repeats=180)
