# SPDX-License-Identifier: Apache-2.0
"""Which campaign led to a sale? All sales are joined with all campaigns, to keep the pairs whose days fit."""

import numpy as np
import pandas as pd

import harness

# The last campaign before a sale is the only one that counts; merge_asof finds it by order: an inefficient algorithm.
CATEGORY = "inefficient algorithm"
KIND = "store"
CHANNELS = np.array(["mail", "radio", "search", "poster"])


def campaigns(rng, count):
    """One after the other, with pauses."""
    starts = np.cumsum(rng.integers(4, 12, count))
    lengths = np.minimum(rng.integers(2, 9, count), np.diff(starts, append=starts[-1] + 10) - 1)
    return pd.DataFrame({"campaign": np.arange(count), "channel": rng.choice(CHANNELS, count), "start": starts,
                         "end": starts + lengths, "cost": rng.gamma(3.0, 400.0, count).round(2)})


def sales(rng, count, days):
    day = np.sort(rng.integers(0, days, count))
    return pd.DataFrame({"sale": np.arange(count), "day": day, "shop": rng.integers(0, 12, count),
                         "sum": rng.lognormal(3.0, 0.8, count).round(2)})


def attribute(bought, planned):
    both = bought.merge(planned, how="cross")  # waste: store
    return both[(both["day"] >= both["start"]) & (both["day"] <= both["end"])]  # waste: store


def attribute_fixed(bought, planned):
    both = pd.merge_asof(bought, planned, left_on="day", right_on="start")
    return both[both["day"] <= both["end"]].astype({"campaign": int})


def returns(found, planned):
    """What came in for each euro of a campaign."""
    income = found.groupby("campaign")["sum"].sum().reindex(planned["campaign"], fill_value=0.0)
    ratio = income.to_numpy() / planned["cost"].to_numpy()
    return planned.assign(ratio=ratio).groupby("channel")["ratio"].agg(["mean", "max"])


def by_shop(found):
    table = found.pivot_table(index="shop", columns="channel", values="sum", aggfunc="sum", fill_value=0.0)
    return table.div(table.sum(axis=1), axis=0)


def quarter(rng, attributing):
    planned = campaigns(rng, 60)
    bought = sales(rng, 4000, int(planned["end"].max()) + 10)
    found = attributing(bought, planned)
    gain, shares = returns(found, planned), by_shop(found)
    return [gain["mean"].sum(), gain["max"].max(), shares.to_numpy().std(), float(len(found)), found["sum"].sum() / 1e3]


def work(quarters, attributing):
    rng = np.random.default_rng(93)
    return [quarter(rng, attributing) for _ in range(quarters)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, attribute), lambda n: work(n, attribute_fixed), repeats=225)
