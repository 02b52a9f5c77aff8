# SPDX-License-Identifier: Apache-2.0
"""A ridge regression with many penalties, for each of which the splines of the features are made again."""

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.preprocessing import SplineTransformer

import harness

CATEGORY = "loop-invariant computation"
KIND = "store"
PENALTIES = np.logspace(-3.0, 3.0, 25)


def course(rng, count):
    X = rng.uniform(-3.0, 3.0, size=(count, 4))
    return X, np.sin(X).sum(axis=1) + rng.normal(scale=0.3, size=count)


def errors(X, y, X_test, y_test):
    found = []
    for penalty in PENALTIES:
        splines = SplineTransformer(n_knots=8).fit(X)
        features = splines.transform(X)  # waste: store
        model = Ridge(alpha=penalty).fit(features, y)
        found.append(np.mean((model.predict(splines.transform(X_test)) - y_test) ** 2))  # waste: store
    return found


def errors_fixed(X, y, X_test, y_test):
    splines = SplineTransformer(n_knots=8).fit(X)
    features, features_test = splines.transform(X), splines.transform(X_test)
    found = []
    for penalty in PENALTIES:
        model = Ridge(alpha=penalty).fit(features, y)
        found.append(np.mean((model.predict(features_test) - y_test) ** 2))
    return found


def work(repeats, path):
    rng = np.random.default_rng(34)
    return [path(*course(rng, 3000), *course(rng, 1000)) for _ in range(repeats)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, errors), lambda n: work(n, errors_fixed), repeats=72)
