# SPDX-License-Identifier: Apache-2.0
"""How far does one rain gauge speak for another? The optimiser's function computes all distances at every call."""

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize

import harness

CATEGORY = "loop-invariant computation"
KIND = "store"
EARTH = 6_371.0


def distances(gauges):
    """In kilometres, on the sphere."""
    latitude, longitude = np.radians(gauges).T
    north = np.sin((latitude[:, None] - latitude) / 2) ** 2  # waste: store
    east = np.sin((longitude[:, None] - longitude) / 2) ** 2  # waste: store
    part = north + np.cos(latitude)[:, None] * np.cos(latitude) * east  # waste: store
    return 2 * EARTH * np.arcsin(np.sqrt(part))  # waste: store


class Likelihood:
    """Of the log range, the log sill and the log nugget of an exponential covariance."""

    def __init__(self, gauges, rain):
        self.gauges = gauges
        self.rain = rain - rain.mean()

    def distances(self):
        return distances(self.gauges)

    def __call__(self, parameters):
        reach, sill, nugget = np.exp(np.clip(parameters, -8, 8))
        covariance = sill * np.exp(-self.distances() / reach)  # waste: store
        covariance.flat[:: len(covariance) + 1] += nugget
        factor, is_lower = cho_factor(covariance, lower=True, overwrite_a=True, check_finite=False)
        fit = self.rain @ cho_solve((factor, is_lower), self.rain, check_finite=False)
        return np.log(np.diag(factor)).sum() + 0.5 * fit


class FixedLikelihood(Likelihood):
    def __init__(self, gauges, rain):
        super().__init__(gauges, rain)
        self.known = distances(gauges)

    def distances(self):
        return self.known


def network(rng, count=160):
    """Gauges in a valley, and one day's rain."""
    gauges = rng.uniform([46.0, 9.0], [47.5, 11.5], size=(count, 2))
    covariance = 2.0 * np.exp(-distances(gauges) / rng.uniform(15, 60)) + 0.3 * np.eye(count)
    return gauges, np.linalg.cholesky(covariance) @ rng.normal(size=count)


def work(repeats, kind):
    rng = np.random.default_rng(1951)
    found = []
    for _ in range(repeats):
        likelihood = kind(*network(rng))
        best = minimize(likelihood, [3.0, 0.0, -1.0], method="Nelder-Mead", options={"maxiter": 120})
        found.append([*best.x, best.fun])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, Likelihood), lambda n: work(n, FixedLikelihood), repeats=19)
