# SPDX-License-Identifier: Apache-2.0
"""Orders of a shop in an SQLite table with an index, asked again and again: each question has other parameters.

Many answers are alike (no order in those days), but none could be known from those before.
"""

import random
import sqlite3

import harness

CUSTOMERS, DAYS, ORDERS = 20_000, 365, 100_000
QUESTION = """
    SELECT count(*), coalesce(sum(pieces * price), 0.0), coalesce(max(price), 0.0)
    FROM orders WHERE customer = ? AND day BETWEEN ? AND ?
"""


def orders(rng):
    for _ in range(ORDERS):
        yield rng.randrange(CUSTOMERS), rng.randrange(DAYS), rng.randrange(1, 10), rng.uniform(1.0, 80.0)


def shop(rng):
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE orders (customer INTEGER, day INTEGER, pieces INTEGER, price REAL)")
    base.executemany("INSERT INTO orders VALUES (?, ?, ?, ?)", orders(rng))
    base.execute("CREATE INDEX by_customer ON orders (customer, day)")
    return base


def work(repeats):
    rng = random.Random(204)
    base = shop(rng)
    totals = [0.0, 0.0, 0.0]
    for number in rng.sample(range(CUSTOMERS * DAYS), repeats):
        customer, first = divmod(number, DAYS)
        count, value, dearest = base.execute(QUESTION, (customer, first, first + 14)).fetchone()
        totals[0] += count
        totals[1] += value
        totals[2] = max(totals[2], dearest)
    return totals


if __name__ == "__main__":
    harness.main(work, repeats=750_000)
