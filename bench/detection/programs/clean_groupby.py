# SPDX-License-Identifier: Apache-2.0
"""Sales of shops with pandas: merged, grouped, turned into a table of months."""

import numpy as np
import pandas as pd

import harness


def sales(rng, rows):
    return pd.DataFrame({
        "shop": rng.integers(50, size=rows),
        "article": rng.integers(1000, size=rows),
        "month": rng.integers(1, 13, size=rows),
        "pieces": rng.integers(1, 20, size=rows),
    })


def work(repeats):
    rng = np.random.default_rng(108)
    articles = pd.DataFrame({"article": np.arange(1000), "price": rng.uniform(1.0, 50.0, size=1000)})
    totals = np.zeros(12)
    for _ in range(repeats):
        frame = sales(rng, 200_000).merge(articles, on="article")
        frame["value"] = frame["pieces"] * frame["price"]
        table = frame.pivot_table(index="shop", columns="month", values="value", aggfunc="sum")
        best = frame.groupby("article")["value"].sum().sort_values(ascending=False)
        totals += table.sum().to_numpy() + best.iloc[0]
    return totals


if __name__ == "__main__":
    harness.main(work, repeats=320)
