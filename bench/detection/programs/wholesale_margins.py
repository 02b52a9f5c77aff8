# SPDX-License-Identifier: Apache-2.0
"""Margins of a wholesaler: the cost of each sale is looked up by .loc in a table of costs, sale by sale."""

import numpy as np
import pandas as pd

import harness

# pandas joins two tables by their keys in one call; .loc with a key of two levels is meant for single questions.
# The keys vary from sale to sale, so the calls are not the same again: API misuse.
CATEGORY = "API misuse"
KIND = "load"
ARTICLES, WEEKS = 350, 26
GROUPS = ("dairy", "bread", "fruit", "drinks", "frozen", "canned", "cleaning")


def articles(rng):
    return pd.DataFrame({
        "sku": [f"SKU{number:05}" for number in rng.choice(90_000, ARTICLES, replace=False)],
        "group": rng.choice(GROUPS, ARTICLES),
        "list_price": rng.gamma(3.0, 2.2, ARTICLES).round(2) + 0.5,
    })


def costs(rng, catalogue):
    """What the wholesaler paid for an article in a week."""
    walk = np.cumprod(rng.normal(1.0, 0.015, size=(ARTICLES, WEEKS)), axis=1)
    cost = (0.72 * catalogue["list_price"].to_numpy()[:, None] * walk).round(3)
    index = pd.MultiIndex.from_product([catalogue["sku"], range(WEEKS)], names=["sku", "week"])
    freight = rng.uniform(0.01, 0.09, ARTICLES * WEEKS).round(3)
    return pd.DataFrame({"cost": cost.ravel(), "freight": freight}, index=index).sort_index()


def sales(rng, catalogue, count):
    chosen = catalogue.iloc[rng.integers(ARTICLES, size=count)].reset_index(drop=True)
    chosen["week"] = rng.integers(WEEKS, size=count)
    chosen["pieces"] = rng.poisson(7.0, count) + 1
    chosen["discount"] = rng.choice([0.0, 0.0, 0.03, 0.05, 0.1], count)
    return chosen


def landed_cost(sold, paid):
    def of_sale(sku, week):
        row = paid.loc[(sku, week)]  # waste: load
        return row["cost"] + row["freight"]  # waste: load

    return [of_sale(sku, week) for sku, week in zip(sold["sku"], sold["week"])]


def landed_cost_fixed(sold, paid):
    landed = (paid["cost"] + paid["freight"]).rename("landed")
    return sold[["sku", "week"]].join(landed, on=["sku", "week"])["landed"].to_numpy()


def margins(sold, paid, look_up):
    sold["unit_cost"] = look_up(sold, paid)
    sold["revenue"] = sold["pieces"] * sold["list_price"] * (1.0 - sold["discount"])
    sold["margin"] = sold["revenue"] - sold["pieces"] * sold["unit_cost"]
    table = sold.groupby("group")[["revenue", "margin"]].sum().reindex(GROUPS)
    return table["margin"] / table["revenue"]


def work(repeats, look_up):
    rng = np.random.default_rng(431)
    catalogue = articles(rng)
    found = []
    for _ in range(repeats):
        paid = costs(rng, catalogue)
        found.append(margins(sales(rng, catalogue, 2_500), paid, look_up))
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, landed_cost), lambda n: work(n, landed_cost_fixed), repeats=62)
