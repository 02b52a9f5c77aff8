# SPDX-License-Identifier: Apache-2.0
"""How long do building permits take? The working days of each case are counted by making a list of them."""

import numpy as np
import pandas as pd

import harness

# np.busday_count takes whole columns; here a lambda builds an index of dates per row, for its length: API misuse.
CATEGORY = "API misuse"
KIND = "store"
rng = np.random.default_rng(3004)
districts = ["Altstadt", "Hafen", "Nord", "Ost", "Süd", "West"]
kinds = ["house", "garage", "shop", "roof", "wall"]


def load_cases(n):
    filed = pd.Timestamp("2012-01-02") + pd.to_timedelta(rng.integers(0, 3000, n), unit="D")
    took = np.round(rng.gamma(2.0, 30.0, n)) + 1
    df = pd.DataFrame({"filed": filed, "district": rng.choice(districts, n), "kind": rng.choice(kinds, n),
                       "area": rng.lognormal(5, 0.8, n).round(1)})
    df["decided"] = df["filed"] + pd.to_timedelta(took, unit="D")
    return df


def add_days(df):
    df["days"] = df.apply(lambda row: len(pd.bdate_range(row["filed"], row["decided"])), axis=1)  # waste: store
    return df


def add_days_fixed(df):
    first = df["filed"].to_numpy().astype("datetime64[D]")
    after = df["decided"].to_numpy().astype("datetime64[D]") + 1
    df["days"] = np.busday_count(first, after)
    return df


def report(df):
    late = df["days"] > 60
    by = df.assign(late=late).groupby(["district", "kind"]).agg(days=("days", "median"), late=("late", "mean"), n=("area", "size"))
    monthly = df.set_index("decided")["days"].resample("MS").mean().rolling(3).mean().dropna()
    return [by["days"].sum(), by["late"].max(), by["n"].min(), monthly.max(), df["days"].corr(df["area"])]


def work(offices, count):
    global rng
    rng = np.random.default_rng(3004)
    return [report(count(load_cases(600))) for _ in range(offices)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, add_days), lambda n: work(n, add_days_fixed), repeats=55)
