# SPDX-License-Identifier: Apache-2.0
"""Random forests of scikit-learn: fitted, then asked about a whole table at once."""

import numpy as np
from sklearn.ensemble import RandomForestClassifier

import harness


def work(repeats):
    rng = np.random.default_rng(104)
    shares = []
    for seed in range(repeats):
        X = rng.normal(size=(2000, 20))
        y = (X[:, 0] * X[:, 1] + X[:, 2] > 0.0).astype(int)
        forest = RandomForestClassifier(n_estimators=40, random_state=seed).fit(X[:1500], y[:1500])
        shares.append(np.mean(forest.predict(X[1500:]) == y[1500:]))
    return shares


if __name__ == "__main__":
    harness.main(work, repeats=48)
