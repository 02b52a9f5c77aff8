# SPDX-License-Identifier: Apache-2.0
"""Trams: counts of the doors become loads between stops; the timetable is measured by line and hour, with pandas."""

import numpy as np
import pandas as pd

import harness

LINES, STOPS = 9, 22
SEATS = 180


def trips(rng, day, count=500):
    """A row for each stop of each trip: when, late by how much, how many get in and out."""
    line = rng.integers(0, LINES, count)
    start = np.sort(rng.integers(5 * 3600, 23 * 3600, count))
    hour = start / 3600
    busy = 4 + 14 * np.exp(-0.5 * ((hour - 8) / 1.2) ** 2) + 11 * np.exp(-0.5 * ((hour - 17.5) / 1.8) ** 2)
    if day % 7 > 4:
        busy = 0.5 * busy + 2
    getting_in = rng.poisson(np.outer(busy, np.linspace(1.6, 0.1, STOPS)))
    getting_in[:, -1] = 0
    before = np.zeros(count, dtype=int)
    getting_out = np.zeros_like(getting_in)
    for stop in range(1, STOPS):
        before += getting_in[:, stop - 1] - getting_out[:, stop - 1]
        share = min(1.0, stop / (STOPS - 1)) ** 2
        getting_out[:, stop] = rng.binomial(before, share)
    late = np.cumsum(rng.normal(4, 25, (count, STOPS)), axis=1)
    times = start[:, None] + 95 * np.arange(STOPS) + late
    return pd.DataFrame({
        "trip": np.repeat(np.arange(count), STOPS), "line": np.repeat(line, STOPS),
        "stop": np.tile(np.arange(STOPS), count), "time": times.ravel().round().astype(int),
        "late": late.ravel(), "inside": getting_in.ravel(), "outside": getting_out.ravel(),
    })


def loads(table):
    """Passengers between a stop and the next one."""
    table["load"] = (table["inside"] - table["outside"]).groupby(table["trip"]).cumsum()
    table["hour"] = table["time"] // 3600
    return table


def by_line(table):
    """Passengers, punctuality and crowding of each line and hour."""
    table["is_late"] = table["late"] > 120
    table["standing"] = (table["load"] - SEATS).clip(lower=0)
    return table.groupby(["line", "hour"]).agg(
        entered=("inside", "sum"), late=("is_late", "mean"), most=("load", "max"), standing=("standing", "sum"))


def headways(table):
    """Seconds between two trams of a line at the stop in the middle: mean and spread."""
    middle = table[table["stop"] == STOPS // 2].sort_values(["line", "time"], kind="stable")
    gaps = middle["time"].diff()[middle["line"].eq(middle["line"].shift())]
    return float(gaps.mean()), float(gaps.std())


def profile(table):
    """Mean load along a line, of all trips."""
    return table.groupby(["line", "stop"])["load"].mean().unstack()


def report(rng, day):
    table = loads(trips(rng, day))
    found = by_line(table)
    mean, spread = headways(table)
    along = profile(table).to_numpy()
    worst = found["most"].idxmax()
    return [int(table["inside"].sum()), *worst, int(found["standing"].sum()), round(float(found["late"].mean()), 7),
            round(mean, 5), round(spread, 5), int(np.nanargmax(along)), round(float(np.nanmax(along)), 6)]


def work(days):
    rng = np.random.default_rng(7122)
    return [report(rng, day) for day in range(days)]


if __name__ == "__main__":
    harness.main(work, repeats=420)
