# SPDX-License-Identifier: Apache-2.0
"""polars: groups and sorting of 100 000 rows, on one thread."""

import os
import random

os.environ["POLARS_MAX_THREADS"] = "1"

import polars

from harness import run

DRAW = random.Random(1)
ROWS = 100_000
SALES = polars.DataFrame({"shop": [DRAW.randrange(200) for _ in range(ROWS)], "price": [DRAW.random() for _ in range(ROWS)]})


def work(repeats):
    for _ in range(repeats):
        sums = SALES.lazy().group_by("shop").agg(polars.col("price").sum()).sort("price").collect()
        rising = SALES.sort("price")
    return sums["price"][0], rising["price"][0]


run(work, 200)
