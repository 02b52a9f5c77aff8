# SPDX-License-Identifier: Apache-2.0
"""Twelve years of each of many weather stations: means of a sliding week, by month, and the longest droughts."""

import numpy as np
import pandas as pd

import harness

DAYS = 365 * 12
SEASON = np.sin(2.0 * np.pi * (np.arange(DAYS) - 110) / 365.25)


def station(rng, number):
    days = pd.date_range(f"{1900 + number % 200}-01-01", periods=DAYS)
    celsius = 9.0 + 0.005 * number + 9.0 * SEASON + rng.normal(scale=3.0, size=DAYS)
    rain = np.where(rng.random(DAYS) < 0.35, rng.gamma(0.8, 6.0, size=DAYS), 0.0)
    return pd.DataFrame({"celsius": celsius, "rain": rain}, index=days)


def droughts(rain, years):
    """Days of the longest one by year."""
    dry = rain < 0.1
    spell = (dry != dry.shift()).cumsum()
    lengths = dry.groupby(spell).cumsum()
    return lengths.groupby(years).max()


def figures(frame):
    years = frame.index.year
    week = frame["celsius"].rolling(7, center=True).mean()
    months = frame.groupby(frame.index.month).agg({"celsius": ["mean", "std"], "rain": "sum"})
    hot = (week > 20.0).groupby(years).sum()
    wettest = frame["rain"].resample("M").sum().nlargest(3)
    return np.concatenate([months.to_numpy().ravel(), hot, droughts(frame["rain"], years), wettest])


def work(repeats):
    rng = np.random.default_rng(760)
    return [figures(station(rng, number)) for number in range(repeats)]


if __name__ == "__main__":
    harness.main(work, repeats=500)
