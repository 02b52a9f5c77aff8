# SPDX-License-Identifier: Apache-2.0
"""A crossover of moving averages, tested on past prices with a loop over the rows of a data frame."""

import numpy as np
import pandas as pd

import harness

CATEGORY = "slice underutilization"
KIND = "load"
FEE = 0.0005


def prices(rng, days):
    return pd.Series(100.0 * np.exp(np.cumsum(rng.normal(scale=0.01, size=days))))


def with_averages(close):
    frame = pd.DataFrame({"close": close})
    frame["fast"] = close.rolling(10).mean()
    frame["slow"] = close.rolling(50).mean()
    frame["return"] = close.pct_change().fillna(0.0)
    return frame


def wealth(frame):
    position, money = 0, 1.0
    for i in range(50, len(frame)):
        money *= 1.0 + position * frame["return"].iloc[i]  # waste: load
        wanted = 1 if frame["fast"].iloc[i] > frame["slow"].iloc[i] else 0  # waste: load
        if wanted != position:
            money *= 1.0 - FEE
        position = wanted
    return money


def wealth_fixed(frame):
    wanted = (frame["fast"] > frame["slow"]).to_numpy()[50:].astype(float)
    held = np.concatenate([[0.0], wanted[:-1]])
    trades = np.count_nonzero(wanted != held)
    return np.prod(1.0 + held * frame["return"].to_numpy()[50:]) * (1.0 - FEE) ** trades


def work(repeats, test):
    rng = np.random.default_rng(6)
    return [test(with_averages(prices(rng, 1500))) for _ in range(repeats)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, wealth), lambda n: work(n, wealth_fixed), repeats=300)
