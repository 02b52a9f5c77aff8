# SPDX-License-Identifier: Apache-2.0
"""pandas: groups, joins and rolling windows on a table of 50 000 rows."""

import numpy
import pandas

from harness import run

DRAW = numpy.random.default_rng(1)
ROWS = 50_000
SALES = pandas.DataFrame({"shop": DRAW.integers(0, 200, ROWS), "item": DRAW.integers(0, 1000, ROWS), "price": DRAW.random(ROWS)})
SHOPS = pandas.DataFrame({"shop": range(200), "size": DRAW.random(200)})


def work(repeats):
    for _ in range(repeats):
        joined = SALES.merge(SHOPS, on="shop")
        sums = joined.groupby(["shop", "item"])["price"].sum()
        means = joined["price"].rolling(50).mean()
    return sums.sum(), means.iloc[-1]


run(work, 130)
