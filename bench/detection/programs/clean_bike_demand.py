# SPDX-License-Identifier: Apache-2.0
"""Forecasts of rented bicycles: boosted trees and ridge regression for each station, on data of its own."""

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer

import harness


def station(rng, hours=1500):
    hour = np.arange(hours)
    warm = 12 + 8 * np.sin(hour / 800.0) + 4 * np.sin(2 * np.pi * (hour % 24 - 9) / 24) + rng.normal(0, 1.5, hours)
    rain = np.maximum(0.0, rng.normal(-1.0, 1.0, hours))
    work = (hour // 24) % 7 < 5
    peaks = np.exp(-0.3 * (hour % 24 - 8) ** 2) + np.exp(-0.2 * (hour % 24 - 17) ** 2)
    rate = rng.uniform(2, 9) * (0.4 + peaks * np.where(work, 2.0, 0.6)) * np.exp(-0.6 * rain) * (1 + warm / 30)
    X = np.column_stack([hour % 24, (hour // 24) % 7, warm, rain, work])
    return X, rng.poisson(np.clip(rate, 0.1, None)).astype(float)


def models(seed):
    yield GradientBoostingRegressor(n_estimators=40, max_depth=4, subsample=0.7, random_state=seed)
    yield make_pipeline(SplineTransformer(n_knots=8), Ridge(alpha=2.0))


def work(stations):
    rng, found = np.random.default_rng(24), []
    for number in range(stations):
        X, y = station(rng)
        errors = []
        for train, test in TimeSeriesSplit(n_splits=3).split(X):
            for model in models(number):
                guess = model.fit(X[train], y[train]).predict(X[test])
                errors.append(np.abs(guess - y[test]).mean())
        found.append([min(errors), max(errors), y.mean()])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=40)
