# SPDX-License-Identifier: Apache-2.0
"""Thresholds of a trading rule are tried one by one; the moving averages, which do not depend on them, are made anew
for each."""

import numpy as np
import pandas as pd

import harness

CATEGORY = "loop-invariant computation"
KIND = "store"
THRESHOLDS = np.linspace(0.0, 2.0, 30)


def prices(rng, days):
    return pd.Series(100.0 * np.exp(np.cumsum(rng.normal(scale=0.01, size=days))))


def gain(score, returns, threshold):
    position = (score < -threshold).astype(float).shift(1, fill_value=0.0)
    return float((position * returns).sum())


def best(close):
    returns = close.pct_change().fillna(0.0)
    gains = []
    for threshold in THRESHOLDS:
        mean = close.rolling(60).mean()  # waste: store
        deviation = close.rolling(60).std()  # waste: store
        score = ((close - mean) / deviation).fillna(0.0)  # waste: store
        gains.append(gain(score, returns, threshold))
    return gains


def best_fixed(close):
    returns = close.pct_change().fillna(0.0)
    score = ((close - close.rolling(60).mean()) / close.rolling(60).std()).fillna(0.0)
    return [gain(score, returns, threshold) for threshold in THRESHOLDS]


def work(repeats, sweep):
    rng = np.random.default_rng(36)
    return [sweep(prices(rng, 10000)) for _ in range(repeats)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, best), lambda n: work(n, best_fixed), repeats=310)
