# SPDX-License-Identifier: Apache-2.0
"""How much the price of an article differs between shops, by groups of a DataFrame and a Python function."""

import numpy as np
import pandas as pd

import harness

CATEGORY = "API misuse"
KIND = "load"


def offers(rng, count, articles):
    article = rng.integers(articles, size=count)
    base = rng.lognormal(3.0, 1.0, size=articles)
    return pd.DataFrame(
        {
            "article": article,
            "shop": rng.integers(60, size=count),
            "price": (base[article] * rng.uniform(0.8, 1.3, size=count)).round(2),
        }
    )


def spread(frame):
    return frame.groupby("article")["price"].apply(lambda prices: prices.max() - prices.min())  # waste: load


def spread_fixed(frame):
    groups = frame.groupby("article")["price"]
    return groups.max() - groups.min()


def report(frame, measure):
    """The mean spread, its highest decile, and how many articles differ by more than a third of their price."""
    found = measure(frame)
    relative = found / frame.groupby("article")["price"].mean()
    return [found.mean(), found.quantile(0.9), (relative > 1 / 3).sum()]


def work(repeats, measure):
    rng = np.random.default_rng(17)
    return [report(offers(rng, 12_000, 1_500), measure) for _ in range(repeats)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, spread), lambda n: work(n, spread_fixed), repeats=60)
