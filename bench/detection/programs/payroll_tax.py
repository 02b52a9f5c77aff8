# SPDX-License-Identifier: Apache-2.0
"""Monthly pay slips: the tax of each employee is looked up and written into a DataFrame, one cell at a time."""

import numpy as np
import pandas as pd

import harness

CATEGORY = "slice underutilization"
KIND = "store"
LIMITS = np.array([0.0, 1_000.0, 2_500.0, 5_000.0, 9_000.0])
RATES = np.array([0.0, 0.14, 0.24, 0.35, 0.42])


def staff(rng, count):
    return pd.DataFrame(
        {
            "gross": rng.lognormal(8.0, 0.5, size=count).round(2),
            "children": rng.integers(0, 4, size=count),
            "department": rng.integers(0, 15, size=count),
        }
    )


def rate(gross):
    for limit, percent in zip(LIMITS.tolist()[::-1], RATES.tolist()[::-1]):
        if gross >= limit:
            return percent
    return 0.0


def add_net(frame):
    frame["tax"] = 0.0
    frame["net"] = 0.0
    for i, gross, children in zip(frame.index, frame["gross"], frame["children"]):
        taxed = max(0.0, gross - 120.0 * children)
        frame.at[i, "tax"] = taxed * rate(taxed)  # waste: store
        frame.at[i, "net"] = gross - taxed * rate(taxed)  # waste: store
    return frame


def add_net_fixed(frame):
    taxed = np.maximum(0.0, frame["gross"] - 120.0 * frame["children"])
    frame["tax"] = taxed * RATES[np.searchsorted(LIMITS, taxed, side="right") - 1]
    frame["net"] = frame["gross"] - frame["tax"]
    return frame


def work(repeats, pay):
    rng = np.random.default_rng(91)
    found = []
    for _ in range(repeats):
        frame = pay(staff(rng, 3_000))
        sums = frame.groupby("department")[["tax", "net"]].sum()
        found.append(sums.to_numpy().ravel())
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, add_net), lambda n: work(n, add_net_fixed), repeats=90)
