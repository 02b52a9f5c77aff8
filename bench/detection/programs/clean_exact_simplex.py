# SPDX-License-Identifier: Apache-2.0
"""Feed for farms at the lowest cost by the simplex method in exact fractions; each pivot changes the whole table."""

import fractions
import math
import random

import harness

Fraction = fractions.Fraction
NUTRIENTS = 7


class Farm:
    """Most profit from products that need feeds of which there is only so much."""

    def __init__(self, rng, products):
        self.profit = [Fraction(rng.randrange(20, 90), 10) for _ in range(products)]
        self.needs = [[Fraction(rng.randrange(1, 40), 8) for _ in range(products)] for _ in range(NUTRIENTS)]
        self.stock = [Fraction(rng.randrange(300, 900)) for _ in range(NUTRIENTS)]

    def table(self):
        rows = []
        for number, (needs, stock) in enumerate(zip(self.needs, self.stock)):
            slack = [Fraction(int(number == other)) for other in range(NUTRIENTS)]
            rows.append([*needs, *slack, stock])
        rows.append([*(-gain for gain in self.profit), *[Fraction(0)] * (NUTRIENTS + 1)])
        return rows


def entering(goal):
    """Bland's rule: the first column that pays."""
    return next((column for column, value in enumerate(goal[:-1]) if value < 0), None)


def leaving(rows, column):
    best = None
    for number, row in enumerate(rows[:-1]):
        if row[column] > 0:
            ratio = row[-1] / row[column]
            if best is None or ratio < best[0]:
                best = ratio, number
    return best and best[1]


def pivot(rows, number, column):
    head = rows[number][column]
    rows[number] = chosen = [value / head for value in rows[number]]
    for other, row in enumerate(rows):
        if other != number and row[column]:
            factor = row[column]
            rows[other] = [value - factor * base if base else value for value, base in zip(row, chosen)]


def solve(farm):
    rows, basis, pivots = farm.table(), list(range(len(farm.profit), len(farm.profit) + NUTRIENTS)), 0
    while (column := entering(rows[-1])) is not None:
        number = leaving(rows, column)
        pivot(rows, number, column)
        basis[number] = column
        pivots += 1
    amounts = {name: row[-1] for name, row in zip(basis, rows) if name < len(farm.profit)}
    return rows[-1][-1], amounts, pivots


def check(farm, profit, amounts):
    assert profit == sum(farm.profit[name] * amount for name, amount in amounts.items())
    for needs, stock in zip(farm.needs, farm.stock):
        assert sum(needs[name] * amount for name, amount in amounts.items()) <= stock


def work(farms):
    rng, found = random.Random(114), []
    for _ in range(farms):
        farm = Farm(rng, 10)
        profit, amounts, pivots = solve(farm)
        check(farm, profit, amounts)
        found.append([float(profit), len(amounts), pivots, math.log10(profit.denominator)])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=4200)
