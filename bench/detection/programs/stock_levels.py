# SPDX-License-Identifier: Apache-2.0
"""A shop's stock day by day with orders when it runs low; each day's level is set in the frame by label."""

import numpy as np
import pandas as pd

import harness

CATEGORY = "API misuse"
KIND = "store"
DAYS, LOW, LOT, DELIVERY = 365, 40, 120, 4
DATES = pd.date_range("2025-01-01", periods=DAYS)


def sales(rng, article):
    """A frame of what customers wanted, day by day."""
    season = 12.0 + 6.0 * np.sin(2.0 * np.pi * (np.arange(DAYS) + 30 * article) / 365.0)
    return pd.DataFrame({"day": DATES, "wanted": rng.poisson(season), "level": 0.0, "missed": 0})


def levels(frame):
    stock, coming = 100, {}
    for day, wanted in enumerate(frame["wanted"].tolist()):
        stock += coming.pop(day, 0)
        sold = min(stock, wanted)
        stock -= sold
        if stock < LOW and not coming:
            coming[day + DELIVERY] = LOT
        frame.loc[day, "level"] = stock  # waste: store
        frame.loc[day, "missed"] = wanted - sold  # waste: store
    return frame


def levels_fixed(frame):
    stock, coming = 100, {}
    left, missed = [], []
    for day, wanted in enumerate(frame["wanted"].tolist()):
        stock += coming.pop(day, 0)
        sold = min(stock, wanted)
        stock -= sold
        if stock < LOW and not coming:
            coming[day + DELIVERY] = LOT
        left.append(stock)
        missed.append(wanted - sold)
    return frame.assign(level=left, missed=missed)


def report(frame):
    months = frame.groupby(frame["day"].dt.month)[["level", "missed"]].agg({"level": "mean", "missed": "sum"})
    return months.to_numpy().ravel()


def work(repeats, fill):
    rng = np.random.default_rng(705)
    return [report(fill(sales(rng, article))) for article in range(repeats)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, levels), lambda n: work(n, levels_fixed), repeats=140)
