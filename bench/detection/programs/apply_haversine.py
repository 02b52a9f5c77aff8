# SPDX-License-Identifier: Apache-2.0
"""Lengths of taxi rides, row by row with DataFrame.apply and NumPy's functions of single numbers."""

import numpy as np
import pandas as pd

import harness

CATEGORY = "API misuse"
KIND = "load"


def rides(rng, count):
    start, end = rng.normal(scale=0.05, size=(2, count, 2)) + np.array([40.75, -73.98])
    frame = pd.DataFrame({"lat1": start[:, 0], "lon1": start[:, 1], "lat2": end[:, 0], "lon2": end[:, 1]})
    frame["zone"] = rng.integers(20, size=count)
    return frame


def haversine(lat1, lon1, lat2, lon2):
    lat1, lon1, lat2, lon2 = np.radians(lat1), np.radians(lon1), np.radians(lat2), np.radians(lon2)  # waste: load
    half = np.sin((lat2 - lat1) / 2.0) ** 2  # waste: load
    half += np.cos(lat1) * np.cos(lat2) * np.sin((lon2 - lon1) / 2.0) ** 2  # waste: load
    return 2.0 * 6371.0 * np.arcsin(np.sqrt(half))  # waste: load


def lengths(frame):
    return frame.apply(lambda row: haversine(row["lat1"], row["lon1"], row["lat2"], row["lon2"]), axis=1)  # waste: load


def lengths_fixed(frame):
    return haversine(frame["lat1"], frame["lon1"], frame["lat2"], frame["lon2"])


def work(repeats, measure):
    rng = np.random.default_rng(11)
    totals = np.zeros(20)
    for _ in range(repeats):
        frame = rides(rng, 5000)
        frame["km"] = measure(frame)
        totals += frame.groupby("zone")["km"].mean().to_numpy()
    return totals


if __name__ == "__main__":
    harness.main(lambda n: work(n, lengths), lambda n: work(n, lengths_fixed), repeats=150)
