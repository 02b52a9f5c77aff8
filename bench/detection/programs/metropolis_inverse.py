# SPDX-License-Identifier: Apache-2.0
"""Metropolis sampling from a normal distribution, whose covariance matrix is inverted at every step."""

import numpy as np

import harness

CATEGORY = "repeated native calls"
KIND = "store"
DIMENSIONS = 12


def covariance(rng):
    factor = rng.normal(size=(DIMENSIONS, DIMENSIONS))
    return factor @ factor.T + np.eye(DIMENSIONS)


class Density:
    """A normal distribution."""

    def __init__(self, mean, cov):
        self.mean, self.cov = mean, cov

    def log(self, x):
        away = x - self.mean
        inverse = np.linalg.inv(self.cov)  # waste: store
        _, log_size = np.linalg.slogdet(self.cov)  # waste: store
        return -0.5 * (away @ inverse @ away + log_size)


class FixedDensity(Density):
    def __init__(self, mean, cov):
        super().__init__(mean, cov)
        self.inverse, self.log_size = np.linalg.inv(cov), np.linalg.slogdet(cov)[1]

    def log(self, x):
        away = x - self.mean
        return -0.5 * (away @ self.inverse @ away + self.log_size)


def walk(repeats, kind):
    rng = np.random.default_rng(18)
    density = kind(rng.normal(size=DIMENSIONS), covariance(rng))
    place = np.zeros(DIMENSIONS)
    height, total = density.log(place), np.zeros(DIMENSIONS)
    for _ in range(repeats):
        other = place + rng.normal(scale=0.3, size=DIMENSIONS)
        there = density.log(other)
        if np.log(rng.random()) < there - height:
            place, height = other, there
        total += place
    return total / repeats


if __name__ == "__main__":
    harness.main(lambda n: walk(n, Density), lambda n: walk(n, FixedDensity), repeats=520000)
