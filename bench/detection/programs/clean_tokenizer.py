# SPDX-License-Identifier: Apache-2.0
"""Formulas from a spreadsheet, each another one: cut into tokens by one regular expression, then computed.

Small numbers and short names are the same objects again and again, which is no waste.
"""

import random
import re

import harness

TOKEN = re.compile(r"(?P<number>\d+)|(?P<name>[a-z]\w*)|(?P<sign>[-+*])|(?P<open>\()|(?P<close>\))|\s+")
STRENGTH = {"+": 1, "-": 1, "*": 2, "(": 0}
PRIME = 1_000_003


def formula(rng, depth):
    if depth == 0 or rng.random() < 0.15:
        return f"cell{rng.randrange(100)}" if rng.random() < 0.5 else str(rng.randrange(1000))
    left, right = formula(rng, depth - 1), formula(rng, depth - 1)
    inner = f"{left} {rng.choice('+-*')} {right}"
    return f"({inner})" if rng.random() < 0.4 else inner


def reduce(values, signs):
    sign, right, left = signs.pop(), values.pop(), values.pop()
    result = left + right if sign == "+" else left - right if sign == "-" else left * right
    values.append(result % PRIME)


def value(text, cells):
    values, signs = [], []
    for match in TOKEN.finditer(text):
        kind, token = match.lastgroup, match[0]
        if kind == "number":
            values.append(int(token))
        elif kind == "name":
            values.append(cells[token])
        elif kind == "open":
            signs.append(token)
        elif kind == "close":
            while signs[-1] != "(":
                reduce(values, signs)
            signs.pop()
        elif kind == "sign":
            while signs and STRENGTH[signs[-1]] >= STRENGTH[token]:
                reduce(values, signs)
            signs.append(token)
    while signs:
        reduce(values, signs)
    return values[0]


def work(repeats):
    rng = random.Random(201)
    cells = {f"cell{number}": rng.randrange(PRIME) for number in range(100)}
    return [value(formula(rng, 7), cells) for _ in range(repeats)]


if __name__ == "__main__":
    harness.main(work, repeats=25_000)
