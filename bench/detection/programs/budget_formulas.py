# SPDX-License-Identifier: Apache-2.0
"""A small spreadsheet: the formula of each column is Python text, evaluated for every row."""

import math
import random

import harness

CATEGORY = "repeated native calls"
KIND = "store"
FORMULAS = {
    "net": "price * units * (1.0 - discount)",
    "freight": "4.5 + 0.35 * units if units < 40 else 18.0 + 0.1 * (units - 40)",
    "duty": "0.0 if origin == 'home' else round(net * (0.045 if net < 1000.0 else 0.032), 2)",
    "total": "net + freight + duty",
    "margin": "(total - cost * units) / total if total > 0 else 0.0",
    "reorder": "max(0, ceil((stock_days * units / 30.0 - units) / 12)) * 12",
}
NAMES = {"round": round, "max": max, "ceil": math.ceil, "__builtins__": {}}


def rows(rng, count):
    for _ in range(count):
        price = rng.uniform(2.0, 80.0)
        yield {
            "price": price,
            "units": rng.randrange(1, 120),
            "discount": rng.choice((0.0, 0.0, 0.05, 0.1)),
            "origin": rng.choice(("home", "abroad")),
            "cost": price * rng.uniform(0.4, 0.9),
            "stock_days": rng.randrange(10, 90),
        }


class Sheet:
    def fill(self, row):
        for column, formula in FORMULAS.items():
            row[column] = eval(formula, NAMES, row)  # waste: store
        return row


class SheetFixed:
    def __init__(self):
        self.codes = {column: compile(formula, column, "eval") for column, formula in FORMULAS.items()}

    def fill(self, row):
        for column, code in self.codes.items():
            row[column] = eval(code, NAMES, row)
        return row


def work(repeats, kind):
    sheet = kind()
    sums = dict.fromkeys(FORMULAS, 0.0)
    for row in rows(random.Random(1979), repeats):
        for column, value in sheet.fill(row).items():
            if column in sums:
                sums[column] += value
    return list(sums.values())


if __name__ == "__main__":
    harness.main(lambda n: work(n, Sheet), lambda n: work(n, SheetFixed), repeats=60_000)
