# SPDX-License-Identifier: Apache-2.0
"""Predicts the quality of wines; lasso paths over many strengths of the penalty, on folds that all differ."""

import numpy as np
from sklearn.linear_model import lasso_path
from sklearn.model_selection import KFold
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import harness

WINES, MEASURES = 500, 8


def vintage(rng):
    measures = rng.normal(size=(WINES, MEASURES)) @ (np.eye(MEASURES) + 0.3 * rng.normal(size=(MEASURES, MEASURES)))
    effect = rng.normal(size=MEASURES) * (rng.random(MEASURES) < 0.5)
    quality = measures @ effect + 0.5 * measures[:, 0] * measures[:, 1] + rng.normal(scale=0.7, size=WINES)
    return PolynomialFeatures(2, include_bias=False).fit_transform(measures), quality


def error(train, train_quality, test, test_quality, strengths):
    """Of each strength, the strongest first."""
    mean = train_quality.mean()
    _, effects, _ = lasso_path(train, train_quality - mean, alphas=strengths, tol=1e-3, max_iter=4_000)
    return np.abs(test @ effects + mean - test_quality[:, None]).mean(axis=0)


def work(repeats):
    rng = np.random.default_rng(1855)
    strengths = np.geomspace(0.5, 0.01, 12)
    found = []
    for turn in range(repeats):
        measures, quality = vintage(rng)
        errors = []
        for inside, outside in KFold(5, shuffle=True, random_state=turn).split(measures):
            scaler = StandardScaler().fit(measures[inside])
            train, test = scaler.transform(measures[inside]), scaler.transform(measures[outside])
            errors.append(error(train, quality[inside], test, quality[outside], strengths))
        mean = np.mean(errors, axis=0)
        found.append([mean.min(), np.log(strengths[mean.argmin()])])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=420)
