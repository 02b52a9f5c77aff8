# SPDX-License-Identifier: Apache-2.0
"""Tasters of cheese: a panel's marks are predicted from measures in the dairy, with the best of many penalties."""

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import harness

# Features of a fold do not depend on the penalty, but are made for each one anew: loop-invariant computation.
CATEGORY = "loop-invariant computation"
KIND = "store"
MEASURES = ("salt", "fat", "acid", "water", "age", "calcium", "temperature", "rennet", "turns")
PENALTIES = np.logspace(-1, 4, 16)
CHEESES = 260


def batch(rng):
    """Measures and marks of the cheeses of a season."""
    measures = rng.normal(0, 1, (CHEESES, len(MEASURES)))
    measures[:, 3] = -0.6 * measures[:, 1] + 0.8 * measures[:, 3]
    taste = measures[:, 0] * (1 - measures[:, 0]) + 0.7 * measures[:, 4] - 0.4 * measures[:, 2] * measures[:, 3]
    tasters = rng.normal(0, 0.5, (CHEESES, 6)) + rng.normal(0, 0.3, 6)
    return measures, np.round(60 + 8 * taste[:, None] + 4 * tasters)


def panel(marks):
    """The mean of a panel whose tasters are set to the same level and spread."""
    level = marks - marks.mean(axis=0)
    return (level / level.std(axis=0)).mean(axis=1)


def features(measures, held_out):
    """Scaled by the cheeses that are learnt from: those and the others."""
    scaler, powers = StandardScaler(), PolynomialFeatures(3, include_bias=False)
    learnt = powers.fit_transform(scaler.fit_transform(measures[~held_out]))
    return learnt, powers.transform(scaler.transform(measures[held_out]))


def folds(seed):
    for _, test in KFold(4, shuffle=True, random_state=seed).split(np.empty((CHEESES, 1))):
        held_out = np.zeros(CHEESES, dtype=bool)
        held_out[test] = True
        yield held_out


def error(learnt, others, marks, held_out, penalty):
    model = Ridge(penalty, solver="cholesky").fit(learnt, marks[~held_out])
    return float(np.square(model.predict(others) - marks[held_out]).mean())


def errors(measures, marks, seed):
    """Mean error of each penalty."""
    found = np.zeros(len(PENALTIES))
    for held_out in folds(seed):
        for number, penalty in enumerate(PENALTIES):
            learnt, others = features(measures, held_out)  # waste: store
            found[number] += error(learnt, others, marks, held_out, penalty)
    return found / 4


def errors_fixed(measures, marks, seed):
    found = np.zeros(len(PENALTIES))
    for held_out in folds(seed):
        learnt, others = features(measures, held_out)
        for number, penalty in enumerate(PENALTIES):
            found[number] += error(learnt, others, marks, held_out, penalty)
    return found / 4


def influence(measures, marks, penalty):
    """The measure that moves the mark most, at the mean of all others."""
    scaled = StandardScaler().fit_transform(measures)
    model = Ridge(penalty).fit(scaled, marks)
    return int(np.abs(model.coef_).argmax()), float(model.coef_.max())


def agreement(marks):
    """Mean correlation of a taster with the rest of the panel."""
    rest = (marks.sum(axis=1, keepdims=True) - marks) / (marks.shape[1] - 1)
    return float(np.mean([np.corrcoef(own, others)[0, 1] for own, others in zip(marks.T, rest.T)]))


def work(seasons, validating):
    rng, rows = np.random.default_rng(7210), []
    for season in range(seasons):
        measures, marks = batch(rng)
        mean = panel(marks)
        found = validating(measures, mean, season)
        best = int(found.argmin())
        strongest, slope = influence(measures, mean, PENALTIES[best])
        rows.append([best, round(float(found[best]), 6), round(float(found[-1]), 6), strongest, round(slope, 6),
                     round(agreement(marks), 6)])
    return rows


if __name__ == "__main__":
    harness.main(lambda n: work(n, errors), lambda n: work(n, errors_fixed), repeats=31)
