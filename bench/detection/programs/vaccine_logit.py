# SPDX-License-Identifier: Apache-2.0
"""Who was protected: a logistic regression whose weights are put on the diagonal of a square matrix at every step."""

import numpy as np

import harness

CATEGORY = "API misuse"
KIND = "load"
PEOPLE = 500


def cohort(rng):
    """Age, dose, months since, and an interaction; who fell ill."""
    age, dose, months = rng.uniform(-1, 1, PEOPLE), rng.integers(0, 3, PEOPLE), rng.gamma(2.0, size=PEOPLE)
    design = np.column_stack([np.ones(PEOPLE), age, dose, months, dose * months])
    chance = 1.0 / (1.0 + np.exp(-design @ [0.3, 0.8, -1.1, 0.2, 0.1]))
    return design, (rng.random(PEOPLE) < chance).astype(float)


def information(design, weights):
    return design.T @ np.diag(weights) @ design  # waste: load


def information_fixed(design, weights):
    return (design.T * weights) @ design


def fit(design, ill, inform):
    """Newton's method; returns the estimates and their standard errors."""
    beta = np.zeros(design.shape[1])
    for _ in range(25):
        chance = 1.0 / (1.0 + np.exp(-design @ beta))
        hessian = inform(design, chance * (1.0 - chance))
        move = np.linalg.solve(hessian, design.T @ (ill - chance))
        beta += move
        if np.abs(move).max() < 1e-8:
            break
    return beta, np.sqrt(np.diag(np.linalg.inv(hessian)))


def work(repeats, inform):
    rng = np.random.default_rng(1796)
    found = []
    for _ in range(repeats):
        design, ill = cohort(rng)
        found.append(np.concatenate(fit(design, ill, inform)))
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, information), lambda n: work(n, information_fixed), repeats=3_600)
