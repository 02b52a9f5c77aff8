# SPDX-License-Identifier: Apache-2.0
"""Delays of buses: positions are joined to the planned stops before them with pandas' merge_asof, for each day."""

import numpy as np
import pandas as pd

import harness

BUSES = 60
WEATHER = np.array([0.0, 20.0, 90.0])


def plan(rng):
    """Planned stops of all buses, sorted by time (seconds of the day)."""
    times = np.sort(rng.integers(5 * 3600, 23 * 3600, size=(BUSES, 120)), axis=1)
    frame = pd.DataFrame({"time": times.ravel(), "bus": np.repeat(np.arange(BUSES), 120)})
    frame["stop"] = np.tile(np.arange(120), BUSES)
    frame["due"] = frame["time"]
    return frame.sort_values("time", kind="stable", ignore_index=True)


def positions(rng, planned):
    """Passing times as measured; some are missing, and weather shifts all of them."""
    seen = planned[rng.random(len(planned)) < 0.9].reset_index(drop=True)
    late = rng.gamma(2.0, 40.0, size=len(seen)) + rng.choice(WEATHER)
    seen = pd.DataFrame({"time": seen["time"] + late.astype(int), "bus": seen["bus"], "passed": seen["stop"]})
    return seen.sort_values("time", kind="stable", ignore_index=True)


def delays(planned, seen):
    """Mean delay of each bus in seconds, for stops passed within a quarter of an hour."""
    joined = pd.merge_asof(seen, planned, on="time", by="bus", tolerance=900)
    late = (joined["time"] - joined["due"]).dropna()
    return late.groupby(joined["bus"]).mean().reindex(range(BUSES))


def work(repeats):
    rng = np.random.default_rng(1895)
    planned = plan(rng)
    days = [delays(planned, positions(rng, planned)).to_numpy() for _ in range(repeats)]
    table = np.array(days)
    return [*np.nanmean(table, axis=0)[:10], np.nanstd(table), np.nanmax(table)]


if __name__ == "__main__":
    harness.main(work, repeats=700)
