# SPDX-License-Identifier: Apache-2.0
"""A shop's yearly report of what each country paid, added up row by row with DataFrame.iterrows."""

import numpy as np
import pandas as pd

import harness

CATEGORY = "slice underutilization"
KIND = "load"
COUNTRIES = 12


def invoices(rng, rows):
    return pd.DataFrame(
        {
            "country": rng.integers(COUNTRIES, size=rows),
            "cents": rng.integers(99, 20000, size=rows),
            "quantity": rng.integers(1, 9, size=rows),
            "percent_off": rng.choice([0, 0, 0, 5, 10, 20], size=rows),
        }
    )


def revenue(frame):
    totals = [0] * COUNTRIES
    for _, row in frame.iterrows():  # waste: load
        totals[row["country"]] += row["cents"] * row["quantity"] * (100 - row["percent_off"])  # waste: load
    return np.array(totals) / 10000.0


def revenue_fixed(frame):
    paid = frame["cents"] * frame["quantity"] * (100 - frame["percent_off"])
    return paid.groupby(frame["country"]).sum().reindex(range(COUNTRIES), fill_value=0).to_numpy() / 10000.0


def work(repeats, report):
    rng = np.random.default_rng(51)
    return [report(invoices(rng, 5000)) for _ in range(repeats)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, revenue), lambda n: work(n, revenue_fixed), repeats=135)
