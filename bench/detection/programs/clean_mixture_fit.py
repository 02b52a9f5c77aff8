# SPDX-License-Identifier: Apache-2.0
"""Mixtures of normal distributions, fitted by expectation and maximisation until the likelihood stands still."""

import numpy as np

import harness

PARTS, FEATURES = 5, 6


def sample(rng, count):
    centres = rng.normal(scale=2.5, size=(PARTS, FEATURES))
    shapes = rng.normal(scale=0.6, size=(PARTS, FEATURES, FEATURES)) + np.eye(FEATURES)
    part = rng.integers(PARTS, size=count)
    return centres[part] + np.einsum("nij,nj->ni", shapes[part], rng.normal(size=(count, FEATURES)))


def log_densities(values, weights, centres, spreads):
    """One column for each part."""
    columns = []
    for weight, centre, spread in zip(weights, centres, spreads):
        lower = np.linalg.cholesky(spread)
        scaled = (values - centre) @ np.linalg.inv(lower).T
        size = np.log(np.diagonal(lower)).sum()
        columns.append(np.log(weight) - size - 0.5 * np.einsum("ij,ij->i", scaled, scaled))
    return np.stack(columns, axis=1)


def fit(rng, values, most=200):
    centres = values[rng.choice(len(values), size=PARTS, replace=False)]
    spreads = np.repeat(np.cov(values.T)[None], PARTS, axis=0)
    weights = np.full(PARTS, 1.0 / PARTS)
    before = -np.inf
    for turn in range(most):
        logs = log_densities(values, weights, centres, spreads)
        top = logs.max(axis=1, keepdims=True)
        shares = np.exp(logs - top)
        sums = shares.sum(axis=1, keepdims=True)
        likelihood = float((top + np.log(sums)).mean())
        if likelihood - before < 1e-6:
            break
        before = likelihood
        shares /= sums
        counts = shares.sum(axis=0)
        weights = counts / len(values)
        centres = (shares.T @ values) / counts[:, None]
        for k in range(PARTS):
            apart = values - centres[k]
            spreads[k] = (shares[:, k] * apart.T) @ apart / counts[k] + 1e-6 * np.eye(FEATURES)
    return before, turn


def work(repeats):
    rng = np.random.default_rng(90)
    return [fit(rng, sample(rng, 3_000)) for _ in range(repeats)]


if __name__ == "__main__":
    harness.main(work, repeats=800)
