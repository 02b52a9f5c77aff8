# SPDX-License-Identifier: Apache-2.0
"""Values client portfolios at the last quotes; the frame of quotes is sorted and reduced for each client."""

import numpy as np
import pandas as pd

import harness

CATEGORY = "loop-invariant computation"
KIND = "load"
PAPERS = 300


def market(rng, count):
    """Quotes of one day as they came in."""
    paper = rng.integers(PAPERS, size=count)
    base = np.random.default_rng(1).lognormal(4.0, 0.7, size=PAPERS)
    return pd.DataFrame(
        {
            "paper": paper,
            "second": rng.integers(8 * 3600, 18 * 3600, size=count) + rng.random(count),
            "price": base[paper] * rng.normal(1.0, 0.01, size=count),
        }
    )


def clients(rng, count):
    for _ in range(count):
        papers = rng.choice(PAPERS, size=25, replace=False)
        yield pd.Series(rng.integers(1, 200, size=25), index=papers)


def last_quotes(quotes):
    return quotes.sort_values("second").groupby("paper")["price"].last()


def values(quotes, portfolios):
    found = []
    for shares in portfolios:
        prices = last_quotes(quotes)  # waste: load
        found.append((prices.reindex(shares.index).fillna(0.0) * shares).sum())
    return found


def values_fixed(quotes, portfolios):
    prices = last_quotes(quotes)
    return [(prices.reindex(shares.index).fillna(0.0) * shares).sum() for shares in portfolios]


def work(repeats, assess):
    rng = np.random.default_rng(2008)
    found = []
    for _ in range(repeats):
        sums = np.array(assess(market(rng, 15_000), clients(rng, 60)))
        found.append([sums.mean(), sums.max(), np.median(sums)])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, values), lambda n: work(n, values_fixed), repeats=26)
