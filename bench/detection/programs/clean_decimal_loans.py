# SPDX-License-Identifier: Apache-2.0
"""Loans paid back month by month, to the cent: decimal arithmetic, each loan with another sum, rate and length.

It runs for longer than most programs here. Rounding and the length of numbers make many digits zero.
"""

import random
from decimal import ROUND_HALF_EVEN, Decimal

import harness

CENT = Decimal("0.01")


def loan(rng):
    total = Decimal(rng.randrange(1_000_000, 50_000_000)).scaleb(-2)
    rate = Decimal(rng.randrange(100, 900)).scaleb(-4) / 12
    return total, rate, rng.randrange(60, 361)


def instalment(total, rate, months):
    growth = (1 + rate) ** months
    return (total * rate * growth / (growth - 1)).quantize(CENT, ROUND_HALF_EVEN)


def interest(total, rate, months):
    """All interest paid, and the last instalment, which makes up for the rounding of the others."""
    each, paid, left = instalment(total, rate, months), Decimal(0), total
    for _ in range(months - 1):
        part = (left * rate).quantize(CENT, ROUND_HALF_EVEN)
        paid += part
        left += part - each
    part = (left * rate).quantize(CENT, ROUND_HALF_EVEN)
    return paid + part, left + part


def work(repeats):
    rng = random.Random(304)
    return [[float(figure) for figure in interest(*loan(rng))] for _ in range(repeats)]


if __name__ == "__main__":
    harness.main(work, repeats=320_000)
