# SPDX-License-Identifier: Apache-2.0
"""Orders are priced from a database; for each position the price is selected again though few articles sell."""

import random
import sqlite3

import harness

CATEGORY = "repeated native calls"
KIND = "store"
QUERY = "SELECT cents, tax FROM offer WHERE article = ? AND valid <= ? ORDER BY valid DESC LIMIT 1"


def shop(random_source):
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE offer (article TEXT, valid INTEGER, cents INTEGER, tax INTEGER)")
    offers = []
    for article in range(60):
        for valid in random_source.sample(range(365), 8):
            offers.append((f"A{article:03}", valid, random_source.randrange(100, 9000), random_source.choice([7, 19])))
    base.executemany("INSERT INTO offer VALUES (?, ?, ?, ?)", offers)
    base.execute("CREATE INDEX by_article ON offer (article)")
    return base


def day_of_orders(random_source):
    """Few articles make up most of what is sold."""
    articles = (min(int(random_source.expovariate(0.08)), 59) for _ in range(3000))
    return [(f"A{article:03}", random_source.randrange(1, 6)) for article in articles]


def turnover(base, day, orders):
    net, taxes = 0, 0
    for article, pieces in orders:
        found = base.execute(QUERY, (article, day)).fetchone()  # waste: store
        if found:
            net += found[0] * pieces
            taxes += found[0] * pieces * found[1] // 100
    return net, taxes


def turnover_fixed(base, day, orders):
    net, taxes, known = 0, 0, {}
    for article, pieces in orders:
        if article not in known:
            known[article] = base.execute(QUERY, (article, day)).fetchone()
        found = known[article]
        if found:
            net += found[0] * pieces
            taxes += found[0] * pieces * found[1] // 100
    return net, taxes


def work(repeats, price):
    random_source = random.Random(101)
    base = shop(random_source)
    orders = [day_of_orders(random_source) for _ in range(7)]
    found = [price(base, 200 + n % 150, orders[n % 7]) for n in range(repeats)]
    base.close()
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, turnover), lambda n: work(n, turnover_fixed), repeats=230)
