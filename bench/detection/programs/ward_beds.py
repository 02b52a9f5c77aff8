# SPDX-License-Identifier: Apache-2.0
"""Beds taken on the wards of a hospital, carried on from hour to hour in a data frame, one cell after the other."""

import numpy as np
import pandas as pd

import harness

CATEGORY = "slice underutilization"
KIND = "load"
HOURS = 24 * 30
WARDS = ("children", "heart", "surgery")


def month(rng):
    """Who came and who left."""
    columns = {}
    for ward in WARDS:
        columns[f"{ward}_in"] = rng.poisson(1.2, size=HOURS)
        columns[f"{ward}_out"] = rng.poisson(1.2, size=HOURS)
    return pd.DataFrame(columns)


def carry_on(frame, ward):
    """Adds a column: the beds taken at the end of each hour, never fewer than none."""
    frame[f"{ward}_beds"] = 0
    frame.loc[0, f"{ward}_beds"] = 40
    for hour in range(1, len(frame)):
        change = frame.loc[hour, f"{ward}_in"] - frame.loc[hour, f"{ward}_out"]  # waste: load
        frame.loc[hour, f"{ward}_beds"] = max(frame.loc[hour - 1, f"{ward}_beds"] + change, 0)  # waste: load


def carry_on_fixed(frame, ward):
    changes = (frame[f"{ward}_in"] - frame[f"{ward}_out"]).tolist()
    beds = [40]
    for change in changes[1:]:
        beds.append(max(beds[-1] + change, 0))
    frame[f"{ward}_beds"] = beds


def work(repeats, fill):
    rng = np.random.default_rng(415)
    found = []
    for _ in range(repeats):
        frame = month(rng)
        for ward in WARDS:
            fill(frame, ward)
        taken = frame[[f"{ward}_beds" for ward in WARDS]]
        found.append([taken.to_numpy().sum(), taken.to_numpy().max(), taken.sum(axis=1).idxmax()])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, carry_on), lambda n: work(n, carry_on_fixed), repeats=40)
