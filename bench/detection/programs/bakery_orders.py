# SPDX-License-Identifier: Apache-2.0
"""Invoices of a bakery: the orders of each café are picked out of the list of all orders of the month."""

import dataclasses
import random

import harness

CATEGORY = "inefficient algorithm"
KIND = "load"
CAFES = 300
PRICES = {"rye": 420, "wheat": 380, "croissant": 160, "bun": 45, "cake": 2_400}


@dataclasses.dataclass
class Order:
    cafe: str
    day: int
    article: str
    count: int


def month(rng, count):
    articles = list(PRICES)
    return [
        Order(f"cafe-{rng.randrange(CAFES):04}", rng.randrange(1, 31), rng.choice(articles), rng.randrange(1, 40))
        for _ in range(count)
    ]


def by_cafe(orders):
    names = sorted({order.cafe for order in orders})
    return {name: [order for order in orders if order.cafe == name] for name in names}  # waste: load


def by_cafe_fixed(orders):
    found = {}
    for order in orders:
        found.setdefault(order.cafe, []).append(order)
    return dict(sorted(found.items()))


def invoice(orders):
    """Cents to pay; five per cent off above 200 euros, and a fee for each day of delivery."""
    total = sum(PRICES[order.article] * order.count for order in orders)
    if total > 20_000:
        total -= total // 20
    return total + 350 * len({order.day for order in orders})


def work(repeats, divide):
    rng = random.Random(1683)
    found = []
    for _ in range(repeats):
        sums = [invoice(orders) for orders in divide(month(rng, 5_000)).values()]
        found.append([len(sums), sum(sums), max(sums)])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, by_cafe), lambda n: work(n, by_cafe_fixed), repeats=80)
