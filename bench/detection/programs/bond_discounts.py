# SPDX-License-Identifier: Apache-2.0
"""Bonds of a fund at today's yields in exact decimals; the discount of each half year is raised again for each bond."""

import dataclasses
import decimal
import random
from decimal import Decimal

import harness

CATEGORY = "loop-invariant computation"
KIND = "load"
CENT = Decimal("0.01")


@dataclasses.dataclass(frozen=True)
class Bond:
    face: Decimal
    coupon: Decimal  # a year, of the face
    halves: int  # half years to run

    def payments(self):
        """(half years from now, amount)"""
        interest = self.face * self.coupon / 2
        for half in range(1, self.halves):
            yield half, interest
        yield self.halves, interest + self.face


def fund(random_source, count):
    return [
        Bond(Decimal(random_source.randrange(1, 50) * 1000), Decimal(random_source.randrange(25, 700)) / 10000,
             random_source.randrange(4, 61))
        for _ in range(count)
    ]


def prices(bonds, curve):
    """The present value of each bond; curve holds the yield of each half year."""
    found = []
    for bond in bonds:
        value = Decimal(0)
        for half, amount in bond.payments():
            factor = (1 + curve[half]) ** (Decimal(-half) / 2)  # waste: load
            value += amount * factor
        found.append(value.quantize(CENT))
    return found


def prices_fixed(bonds, curve):
    factors = [(1 + rate) ** (Decimal(-half) / 2) for half, rate in enumerate(curve)]
    found = []
    for bond in bonds:
        value = Decimal(0)
        for half, amount in bond.payments():
            value += amount * factors[half]
        found.append(value.quantize(CENT))
    return found


def work(repeats, evaluate):
    decimal.getcontext().prec = 34
    random_source = random.Random(718)
    bonds = fund(random_source, 120)
    level, found = Decimal("0.031"), []
    for _ in range(repeats):
        level += Decimal(random_source.randrange(-12, 13)) / 10000
        curve = [level + Decimal(half) / 8000 for half in range(62)]
        values = evaluate(bonds, curve)
        found.append([sum(values), min(values), max(values)])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, prices), lambda n: work(n, prices_fixed), repeats=80)
