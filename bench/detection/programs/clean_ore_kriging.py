# SPDX-License-Identifier: Apache-2.0
"""Ore between boreholes by Gaussian processes: one factorisation for each guess of its sizes."""

import numpy as np
import scipy.linalg
import scipy.optimize
from scipy.spatial.distance import cdist

import harness


def field(rng, places):
    """Grades around a few veins, and what the laboratory makes of them."""
    centres, strength = rng.uniform(0.0, 400.0, size=(7, 2)), rng.gamma(2.0, 0.8, 7)
    far = cdist(places, centres)
    return np.exp(-((far / 55.0) ** 2)) @ strength + 0.02 * rng.normal(size=len(places))


class Process:
    """Matérn's covariance of order 3/2 with a nugget; sizes are found by the likelihood's exact gradient."""

    def __init__(self, places, grades):
        self.places, self.mean = places, grades.mean()
        self.values = grades - self.mean
        self.far = cdist(places, places)

    def likelihood(self, logs):
        """Negative log likelihood and its derivatives by the logs of scale, range and nugget."""
        scale, reach, nugget = np.exp(logs)
        ratio = self.far * (np.sqrt(3.0) / reach)
        near = np.exp(-ratio)
        signal = scale * (1.0 + ratio) * near
        matrix = signal.copy()
        matrix[np.diag_indices_from(matrix)] += nugget
        lower = scipy.linalg.cholesky(matrix, lower=True, overwrite_a=True, check_finite=False)
        weights = scipy.linalg.cho_solve((lower, True), self.values, check_finite=False)
        inverse, _ = scipy.linalg.lapack.dpotri(lower, lower=True)
        inverse = np.tril(inverse) + np.tril(inverse, -1).T
        slack = inverse - np.outer(weights, weights)
        by_reach = scale * ratio**2 * near
        slopes = [0.5 * np.vdot(slack, signal), 0.5 * np.vdot(slack, by_reach), 0.5 * nugget * np.trace(slack)]
        value = 0.5 * self.values @ weights + np.log(np.diagonal(lower)).sum()
        return value, np.array(slopes)

    def fit(self):
        start = np.log([self.values.var(), 60.0, 0.01 * self.values.var()])
        bounds = [(-8.0, 4.0), (2.0, 6.0), (-12.0, 1.0)]
        done = scipy.optimize.minimize(self.likelihood, start, jac=True, method="L-BFGS-B", bounds=bounds,
                                       options={"maxiter": 25})
        scale, self.reach, nugget = np.exp(done.x)
        self.scale = scale
        matrix = self.covariance(self.far)
        matrix[np.diag_indices_from(matrix)] += nugget
        self.factor = scipy.linalg.cho_factor(matrix, lower=True, overwrite_a=True)
        self.weights = scipy.linalg.cho_solve(self.factor, self.values)
        return done.fun

    def covariance(self, far):
        ratio = far * (np.sqrt(3.0) / self.reach)
        return self.scale * (1.0 + ratio) * np.exp(-ratio)

    def predict(self, places):
        """Means and variances of blocks."""
        cross = self.covariance(cdist(places, self.places))
        half = scipy.linalg.solve_triangular(self.factor[0], cross.T, lower=True, check_finite=False)
        return self.mean + cross @ self.weights, self.scale - np.einsum("ij,ij->j", half, half)


def work(mines):
    rng = np.random.default_rng(1951)
    side = np.arange(5.0, 400.0, 10.0)
    blocks = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    found = []
    for _ in range(mines):
        holes = rng.uniform(0.0, 400.0, size=(180, 2))
        process = Process(holes, field(rng, holes))
        fitted = process.fit()
        means, variances = process.predict(blocks)
        found.append([fitted / 100.0, means.mean(), np.sqrt(variances.clip(0.0)).mean(), (means > 1.0).mean()])
    return np.round(found, 3)


if __name__ == "__main__":
    harness.main(work, repeats=230)
