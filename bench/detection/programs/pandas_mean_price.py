# SPDX-License-Identifier: Apache-2.0
"""Offers compared with the usual price of their article, for which all prices are grouped again each time."""

import numpy as np
import pandas as pd

import harness

CATEGORY = "repeated native calls"
KIND = "store"


def history(rng, rows):
    articles = rng.integers(200, size=rows)
    return pd.DataFrame({"article": articles, "price": 5.0 + articles * 0.1 + rng.normal(size=rows)})


class Prices:
    def __init__(self, frame):
        self.frame = frame

    def usual(self, article):
        return self.frame.groupby("article")["price"].median()[article]  # waste: store


class FixedPrices(Prices):
    def __init__(self, frame):
        super().__init__(frame)
        self.medians = frame.groupby("article")["price"].median()

    def usual(self, article):
        return self.medians[article]


def bargains(repeats, kind):
    rng = np.random.default_rng(21)
    prices = kind(history(rng, 20000))
    articles, asked = rng.integers(200, size=repeats), rng.uniform(0.0, 30.0, size=repeats)
    return [price / prices.usual(article) for article, price in zip(articles, asked)]


if __name__ == "__main__":
    harness.main(lambda n: bargains(n, Prices), lambda n: bargains(n, FixedPrices), repeats=10000)
