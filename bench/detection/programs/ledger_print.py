# SPDX-License-Identifier: Apache-2.0
"""Prints statements of account; how wide the columns must be is found out again for every line."""

import dataclasses
import decimal
import random
import zlib

import harness

CATEGORY = "loop-invariant computation"
KIND = "load"
WORDS = "rent wages paper fuel insurance customs repairs interest postage licences travel cleaning".split()


@dataclasses.dataclass
class Entry:
    account: str
    text: str
    amount: decimal.Decimal


def entries(random_source, count):
    made = []
    for _ in range(count):
        text = " ".join(random_source.sample(WORDS, random_source.randrange(1, 4)))
        cents = int(random_source.lognormvariate(11.0, 2.0))
        amount = decimal.Decimal(random_source.choice([-1, 1]) * cents).scaleb(-2)
        made.append(Entry(f"{random_source.randrange(10**4, 10**6)}", text, amount))
    return made


def money(amount):
    return f"{amount:,.2f}"


def widths(rows):
    return [
        max(len(row.account) for row in rows),  # waste: load
        max(len(row.text) for row in rows),  # waste: load
        max(len(money(row.amount)) for row in rows),  # waste: load
    ]


def line(row, columns):
    account, text, amount = columns
    return f"{row.account:>{account}}  {row.text:<{text}}  {money(row.amount):>{amount}}"


def statement(rows):
    return "\n".join(line(row, widths(rows)) for row in rows)  # waste: load


def statement_fixed(rows):
    columns = widths(rows)
    return "\n".join(line(row, columns) for row in rows)


def work(repeats, write):
    random_source = random.Random(1494)
    found = []
    for _ in range(repeats):
        rows = entries(random_source, 150)
        page = write(rows)
        found.append([len(page), zlib.crc32(page.encode()), float(sum(row.amount for row in rows))])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, statement), lambda n: work(n, statement_fixed), repeats=450)
