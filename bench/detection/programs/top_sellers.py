# SPDX-License-Identifier: Apache-2.0
"""The ten best articles of each branch of a shop, week by week; the whole table is sorted to find them."""

import numpy as np
import pandas as pd

import harness

CATEGORY = "API misuse"
KIND = "load"
BRANCHES = ["north", "east", "south", "west"]


def week_of_sales(rng, prices):
    frame = pd.DataFrame({"price": prices})
    demand = rng.random(len(prices))
    for number, branch in enumerate(BRANCHES):
        frame[branch] = prices * np.roll(demand, 1000 * number)
    return frame


def best(revenue):
    return revenue.sort_values(ascending=False).head(10)  # waste: load


def best_fixed(revenue):
    return revenue.nlargest(10)


def work(repeats, choose):
    rng = np.random.default_rng(52)
    prices = rng.uniform(1.0, 90.0, size=30000)
    found = []
    for _ in range(repeats):
        sales = week_of_sales(rng, prices)
        for branch in BRANCHES:
            winners = choose(sales[branch])
            found.append([*winners.index, winners.sum()])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, best), lambda n: work(n, best_fixed), repeats=300)
