# SPDX-License-Identifier: Apache-2.0
"""Monthly sheets of customers are joined to one wide table, a merge of all so far for each month."""

import numpy as np
import pandas as pd

import harness

CATEGORY = "inefficient algorithm"
KIND = "store"


def sheets(rng, customers, months):
    found = []
    for month in range(months):
        buyers = np.sort(rng.choice(customers, size=customers // 2, replace=False))
        spent = rng.integers(1, 500, size=len(buyers))
        found.append(pd.DataFrame({"customer": buyers, f"month{month}": spent}))
    return found


def wide(months):
    table = months[0]
    for sheet in months[1:]:
        table = table.merge(sheet, on="customer", how="outer")  # waste: store
    return table.set_index("customer")


def wide_fixed(months):
    return pd.concat([sheet.set_index("customer") for sheet in months], axis=1)


def work(repeats, join):
    rng = np.random.default_rng(57)
    found = []
    for _ in range(repeats):
        table = join(sheets(rng, 4000, 60)).sort_index().fillna(0.0)
        found.append([*table.sum(), *table.sum(axis=1).iloc[:100]])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, wide), lambda n: work(n, wide_fixed), repeats=20)
