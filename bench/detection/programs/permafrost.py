# SPDX-License-Identifier: Apache-2.0
"""Thaw depth of frozen soil: implicit steps of heat conduction, solved as a full system although it is tridiagonal."""

import numpy as np
from scipy.linalg import solve_banded

import harness

CATEGORY = "inefficient algorithm"
KIND = "load"
LAYERS, DEPTH = 160, 12.0
STEP = 86_400.0
SPACE = DEPTH / LAYERS


def conductivity(temperature):
    """Frozen soil conducts better, W/(m K)."""
    return np.where(temperature < 0.0, 2.1, 1.3)


def capacity(temperature):
    """J/(m3 K), with the heat of melting spread around zero."""
    return 2.2e6 + 6.0e7 * np.exp(-(temperature**2) / 0.5)


def bands(temperature):
    between = conductivity(0.5 * (temperature[1:] + temperature[:-1]))
    rate = STEP / SPACE**2 / capacity(temperature)
    lower, upper = -rate[1:] * between, -rate[:-1] * between
    main = np.ones(LAYERS)
    main[1:] -= lower
    main[:-1] -= upper
    main[0] += 2.0 * rate[0] * 1.3
    return lower, main, upper, 2.0 * rate[0] * 1.3


def step(temperature, surface):
    lower, main, upper, inflow = bands(temperature)
    right = temperature.copy()
    right[0] += inflow * surface
    matrix = np.diag(main) + np.diag(lower, -1) + np.diag(upper, 1)  # waste: load
    return np.linalg.solve(matrix, right)  # waste: load


def step_fixed(temperature, surface):
    lower, main, upper, inflow = bands(temperature)
    right = temperature.copy()
    right[0] += inflow * surface
    table = np.zeros((3, LAYERS))
    table[0, 1:], table[1], table[2, :-1] = upper, main, lower
    return solve_banded((1, 1), table, right)


def work(repeats, advance):
    rng = np.random.default_rng(1837)
    temperature = np.full(LAYERS, -4.0)
    thawed = []
    for day in range(repeats):
        surface = -5.0 + 17.0 * np.sin(2.0 * np.pi * day / 365.0) + rng.normal(scale=2.0)
        temperature = advance(temperature, surface)
        thawed.append((temperature > 0.0).sum() * SPACE)
    return [max(thawed), np.mean(thawed), *temperature[::20]]


if __name__ == "__main__":
    harness.main(lambda n: work(n, step), lambda n: work(n, step_fixed), repeats=9_000)
