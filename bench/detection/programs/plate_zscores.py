# SPDX-License-Identifier: Apache-2.0
"""Hits of a drug screen: the signals of each plate's rows are standardised by a lambda that pandas calls per group."""

import numpy as np
import pandas as pd

import harness

CATEGORY = "API misuse"
KIND = "load"
ROWS, COLUMNS = list("ABCDEFGHIJKLMNOP"), range(1, 25)


def screen(rng, first, plates):
    """Signals of 384 wells a plate, with drift along the columns."""
    wells = pd.MultiIndex.from_product([range(first, first + plates), ROWS, COLUMNS], names=["plate", "row", "column"])
    frame = wells.to_frame(index=False)
    frame["signal"] = rng.lognormal(3.0, 0.3, size=len(frame)) * (1.0 + 0.01 * frame["column"])
    frame["is_control"] = frame["column"].isin([1, 24])
    return frame


def standardised(frame):
    groups = frame.groupby(["plate", "row"])["signal"]
    return groups.transform(lambda signal: (signal - signal.mean()) / signal.std())  # waste: load


def standardised_fixed(frame):
    groups = frame.groupby(["plate", "row"])["signal"]
    return (frame["signal"] - groups.transform("mean")) / groups.transform("std")


def hits(frame, standardise):
    return (
        frame.assign(log_signal=np.log(frame["signal"]), score=standardise(frame))
        .query("not is_control and score > 2.0")
        .sort_values("score", ascending=False)
        .drop_duplicates(["plate", "row"])
    )


def work(repeats, standardise):
    rng = np.random.default_rng(384)
    found = []
    for number in range(repeats):
        best = hits(screen(rng, 10 * number, 10), standardise)
        found.append([len(best), best["score"].sum(), best["log_signal"].mean()])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, standardised), lambda n: work(n, standardised_fixed), repeats=80)
