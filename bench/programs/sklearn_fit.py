# SPDX-License-Identifier: Apache-2.0
"""scikit-learn: a scaler, a logistic regression and neighbours on 1000 rows."""

import numpy
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from harness import run

DRAW = numpy.random.default_rng(1)
ROWS = DRAW.random((1000, 20))
KINDS = (ROWS[:, :5].sum(axis=1) > 2.5).astype(int)


def work(repeats):
    for _ in range(repeats):
        scaled = StandardScaler().fit_transform(ROWS)
        fitted = LogisticRegression().fit(scaled, KINDS)
        near = KNeighborsClassifier().fit(scaled, KINDS)
        right = fitted.score(scaled, KINDS) + near.score(scaled[:200], KINDS[:200])
    return right


run(work, 25)
