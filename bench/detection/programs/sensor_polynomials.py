# SPDX-License-Identifier: Apache-2.0
"""Oxygen sensors of lakes are corrected by polynomials of high degree, whose powers are raised one by one."""

import numpy as np

import harness

# By Horner's scheme, each degree costs a product and a sum, not a power: an inefficient algorithm.
CATEGORY = "inefficient algorithm"
KIND = "load"
DEGREE = 9


class Sensor:
    def __init__(self, rng):
        self.coefficients = rng.normal(size=DEGREE + 1) / (1.0 + np.arange(DEGREE + 1)) ** 2
        self.offset, self.scale = rng.uniform(8, 14), rng.uniform(6, 10)
        self.drift = rng.normal(0, 0.002)

    def normal(self, warmth, hours):
        return (warmth - self.offset) / self.scale + self.drift * hours / 24.0


class Lake:
    """A buoy's readings: temperature and the phase of the sensor's light, each ten seconds."""

    def __init__(self, rng, count):
        self.hours = np.arange(count) / 360.0
        daily = np.sin(2 * np.pi * self.hours / 24.0)
        self.warmth = rng.uniform(9, 13) + 2.0 * daily + rng.normal(0, 0.2, count)
        self.phase = 30.0 + 5.0 * np.cos(2 * np.pi * self.hours / 24.0 + 1.0) + rng.normal(0, 0.3, count)


def polynomial(coefficients, x):
    total = np.zeros_like(x)
    for degree, coefficient in enumerate(coefficients):
        total += coefficient * x**degree  # waste: load
    return total


def polynomial_fixed(coefficients, x):
    total = np.full_like(x, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        total *= x
        total += coefficient
    return total


def oxygen(sensor, lake, correct):
    """Stern and Volmer's law, mg/l."""
    shift = correct(sensor.coefficients, sensor.normal(lake.warmth, lake.hours))
    quench = np.tan(np.radians(60.0)) / np.tan(np.radians(lake.phase + 0.2 * shift)) - 1.0
    return 9.0 * quench / (1.0 + 0.02 * (lake.warmth - 10.0))


def smooth(values, width):
    total = np.cumsum(np.concatenate([[0.0], values]))
    return (total[width:] - total[:-width]) / width


def report(values):
    calm = smooth(values, 60)
    change = np.diff(calm)
    return [calm.min(), calm.max(), calm.mean(), np.abs(change).max(), np.count_nonzero(change > 0) / change.size]


def work(lakes, correct):
    rng, found = np.random.default_rng(92), []
    for _ in range(lakes):
        lake = Lake(rng, 60_000)
        for _ in range(4):
            found.append(report(oxygen(Sensor(rng), lake, correct)))
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, polynomial), lambda n: work(n, polynomial_fixed), repeats=110)
