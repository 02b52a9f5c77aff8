# SPDX-License-Identifier: Apache-2.0
"""Rising and falling rivers: the slope of each gauge's last day, with pandas' rolling windows and np.polyfit."""

import numpy as np
import pandas as pd
from numpy.lib.stride_tricks import sliding_window_view

import harness

# The slope is a weighted sum of the window, the same weights for all; a fit is made in Python for each: API misuse.
CATEGORY = "API misuse"
KIND = "store"
WINDOW = 24
HOURS = np.arange(WINDOW, dtype=float)
GAUGES = ("Ach", "Bode", "Elz", "Kocher", "Rems")


def readings(rng, hours):
    index = pd.date_range("2021-03-01", periods=hours, freq="H")
    frame = pd.DataFrame(index=index)
    rain = np.where(rng.random(hours) < 0.06, rng.gamma(2.0, 3.0, hours), 0.0)
    for gauge in GAUGES:
        memory = np.exp(-np.arange(120) / rng.uniform(8, 30))
        level = 80.0 + np.convolve(rain, memory)[:hours] + rng.normal(0, 0.4, hours)
        frame[gauge] = level.round(1)
    return frame


def slopes(levels):
    def slope(window):
        return np.polyfit(HOURS, window, 1)[0]  # waste: store
    return levels.rolling(WINDOW).apply(slope, raw=True)


def slopes_fixed(levels):
    centred = HOURS - HOURS.mean()
    found = np.full(len(levels), np.nan)
    found[WINDOW - 1:] = sliding_window_view(levels.to_numpy(), WINDOW) @ (centred / np.square(centred).sum())
    return pd.Series(found, index=levels.index)


def floods(levels, trend):
    """Hours of rise to a high level, as spans."""
    is_high = (levels > levels.quantile(0.9)) & (trend > 0.2)
    spans = (is_high != is_high.shift(fill_value=False)).cumsum()[is_high]
    return spans.groupby(spans).size()


def daily(frame):
    day = frame.resample("D").agg(["min", "mean", "max"])
    spread = day.xs("max", axis=1, level=1) - day.xs("min", axis=1, level=1)
    return spread.rolling(7, min_periods=1).mean()


def report(frame, sloping):
    found = []
    spread = daily(frame)
    for gauge in GAUGES:
        trend = sloping(frame[gauge])
        spans = floods(frame[gauge], trend)
        found.append([trend.mean(), trend.max(), trend.min(), float(spans.sum()), float(len(spans)), spread[gauge].mean()])
    return found


def work(seasons, sloping):
    rng = np.random.default_rng(86)
    return [report(readings(rng, 1200), sloping) for _ in range(seasons)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, slopes), lambda n: work(n, slopes_fixed), repeats=84)
