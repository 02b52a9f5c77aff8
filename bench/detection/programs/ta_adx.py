# SPDX-License-Identifier: Apache-2.0
"""The average directional movement index of many shares, smoothed day by day (PieProf, listings 12 and 14: Ta)."""

import numpy as np
import pandas as pd
from scipy.signal import lfilter

import harness

CATEGORY = "slice underutilization"
KIND = "load"
WINDOW = 14


def share(rng, days):
    close = 100.0 * np.exp(np.cumsum(rng.normal(scale=0.01, size=days)))
    spread = np.abs(rng.normal(scale=0.01, size=(2, days))) * close
    return pd.DataFrame({"high": close + spread[0], "low": close - spread[1], "close": close})


def movements(frame):
    """True range, and the directional movement up and down, of each day."""
    before = frame["close"].shift(1).fillna(frame["close"].iloc[0])
    true_range = np.maximum(frame["high"], before) - np.minimum(frame["low"], before)
    up, down = frame["high"].diff().fillna(0.0), -frame["low"].diff().fillna(0.0)
    return (
        true_range.to_numpy(),
        np.where((up > down) & (up > 0.0), up, 0.0),
        np.where((down > up) & (down > 0.0), down, 0.0),
    )


def smoothed(values, n):
    """Wilder's sum."""
    sums = np.zeros(len(values) - n)
    sums[0] = values[:n].sum()
    for i in range(1, len(sums)):
        sums[i] = sums[i - 1] - sums[i - 1] / float(n) + values[n + i]  # waste: load
    return sums


def index_of(dx, n):
    adx = np.zeros(len(dx))
    adx[n] = dx[:n].mean()
    factor = (n - 1) / float(n)
    for i in range(n + 1, len(adx)):
        adx[i] = adx[i - 1] * factor + dx[i - 1] / float(n)  # waste: load
    return adx


def smoothed_fixed(values, n):
    inputs = np.concatenate([[values[:n].sum()], values[n + 1 :]])
    return lfilter([1.0], [1.0, 1.0 / n - 1.0], inputs)


def index_of_fixed(dx, n):
    inputs = np.concatenate([np.zeros(n), [dx[:n].mean()], dx[n:-1] / n])
    return lfilter([1.0], [1.0, -(n - 1) / n], inputs)


def adx_of(frame, smooth, index):
    true_range, up, down = (smooth(values, WINDOW) for values in movements(frame))
    plus, minus = 100.0 * up / true_range, 100.0 * down / true_range
    dx = 100.0 * np.abs(plus - minus) / (plus + minus)
    return index(dx, WINDOW)


def work(repeats, smooth, index):
    rng = np.random.default_rng(3)
    return [adx_of(share(rng, 2000), smooth, index)[-1] for _ in range(repeats)]


if __name__ == "__main__":
    harness.main(
        lambda n: work(n, smoothed, index_of), lambda n: work(n, smoothed_fixed, index_of_fixed), repeats=2000
    )
