# SPDX-License-Identifier: Apache-2.0
"""Bills of a telephone company: calls in exact decimals, lists of strings that are joined, CSV for the archive."""

import csv
import datetime as dt
import io
import random
from collections import defaultdict
from decimal import ROUND_HALF_UP, Decimal

import harness

CENT = Decimal("0.01")
TAX = Decimal("0.19")
TARIFFS = {"local": Decimal("0.019"), "mobile": Decimal("0.087"), "abroad": Decimal("0.491"), "special": Decimal("1.99")}
PREFIXES = {"local": "030", "mobile": "0171", "abroad": "0044", "special": "0900"}
KINDS = list(TARIFFS)
WIDTH = 64


def calls(rng, month):
    """Of one customer."""
    moment = dt.datetime(2004, month, 1)
    for _ in range(rng.randrange(20, 90)):
        moment += dt.timedelta(minutes=rng.expovariate(1 / 400.0))
        kind = rng.choices(KINDS, cum_weights=(60, 85, 95, 96))[0]
        yield moment, PREFIXES[kind] + str(rng.randrange(10**6, 10**8)), kind, int(rng.expovariate(1 / 180.0)) + 1


def price(kind, seconds):
    minutes = Decimal(seconds) / 60 if kind == "local" else Decimal(-(-seconds // 60))
    return (minutes * TARIFFS[kind]).quantize(Decimal("0.0001"))


def line(moment, number, seconds, cost):
    left = f"{moment:%d.%m. %H:%M} {number[:-3]}xxx"
    right = f"{seconds // 60:d}:{seconds % 60:02d} {cost:9.4f}"
    return left + "." * (WIDTH - len(left) - len(right)) + right


def bill(customer, records, archive):
    lines, sums = [f"Customer {customer:08d}".center(WIDTH), ""], defaultdict(Decimal)
    for moment, number, kind, seconds in records:
        cost = price(kind, seconds)
        sums[kind] += cost
        lines.append(line(moment, number, seconds, cost))
        archive.writerow((customer, moment.isoformat(), number, seconds, cost))
    net = sum(sums.values(), Decimal()).quantize(CENT, ROUND_HALF_UP)
    tax = (net * TAX).quantize(CENT, ROUND_HALF_UP)
    lines += [f"{kind:>40} {amount:20.4f}" for kind, amount in sorted(sums.items())]
    lines.append(f"{'to pay':>40} {net + tax:20.2f}")
    return "\n".join(lines), net + tax


def work(customers):
    rng = random.Random(2004)
    total, sizes = Decimal(), []
    for first in range(0, customers, 100):
        file = io.StringIO()
        archive = csv.writer(file)
        for customer in range(first, min(first + 100, customers)):
            text, amount = bill(customer, calls(rng, 1 + customer % 12), archive)
            total += amount
            sizes.append(len(text))
        sizes.append(len(file.getvalue()))
    return [float(total), *sizes]


if __name__ == "__main__":
    harness.main(work, repeats=8000)
