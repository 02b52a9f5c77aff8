# SPDX-License-Identifier: Apache-2.0
"""Reads formulas of spreadsheets by a packrat parser: what a rule found at a place is kept, and asked for again."""

import functools
import math
import random
import re

import harness

NUMBER, NAME, SPACE = re.compile(r"\d+(?:\.\d+)?"), re.compile(r"[A-Z]+\d+"), re.compile(r" *")
FUNCTIONS = {"SUM": sum, "MAX": max, "MIN": min}


def formula(rng, depth):
    if depth == 0 or rng.random() < 0.15:
        return rng.choice((f"{rng.uniform(0, 99):.2f}", f"{rng.choice('ABCDEFGH')}{rng.randrange(1, 30)}"))
    kind = rng.random()
    if kind < 0.55:
        return f"{formula(rng, depth - 1)} {rng.choice('+-*/')} {formula(rng, depth - 1)}"
    if kind < 0.8:
        return f"({formula(rng, depth - 1)} {rng.choice('+-')} {formula(rng, depth - 1)})"
    arguments = ", ".join(formula(rng, depth - 2 if depth > 1 else 0) for _ in range(rng.randrange(1, 4)))
    return f"{rng.choice(list(FUNCTIONS))}({arguments})"


class Parser:
    """Each rule takes a place and returns (node, place behind it), or None."""

    def __init__(self, text):
        self.text = text
        for rule in ("total", "product", "atom"):
            setattr(self, rule, functools.lru_cache(maxsize=None)(getattr(self, rule)))

    def skip(self, at):
        return SPACE.match(self.text, at).end()

    def is_at(self, at, token):
        return self.text.startswith(token, at)

    def total(self, at):
        return self.chain(self.product, self.total, "+-", at)

    def product(self, at):
        return self.chain(self.atom, self.product, "*/", at)

    def chain(self, operand, whole, signs, at):
        """operand sign whole, for each of the signs, or else an operand alone."""
        for sign in signs:
            left = operand(at)
            if left and self.is_at(after := self.skip(left[1]), sign):
                right = whole(self.skip(after + 1))
                if right:
                    return (sign, left[0], right[0]), right[1]
        return operand(at)

    def atom(self, at):
        return self.call(at) or self.reference(at) or self.number(at) or self.inner(at)

    def call(self, at):
        for name in FUNCTIONS:
            if self.is_at(at, name + "("):
                arguments, at = [], at + len(name) + 1
                while found := self.total(self.skip(at)):
                    arguments.append(found[0])
                    at = self.skip(found[1])
                    if self.is_at(at, ")"):
                        return (name, *arguments), at + 1
                    at += 1
        return None

    def reference(self, at):
        match = NAME.match(self.text, at)
        return match and (match.group(), match.end())

    def number(self, at):
        match = NUMBER.match(self.text, at)
        return match and (float(match.group()), match.end())

    def inner(self, at):
        if self.is_at(at, "("):
            found = self.total(self.skip(at + 1))
            if found and self.is_at(self.skip(found[1]), ")"):
                return found[0], self.skip(found[1]) + 1
        return None


def value(node, cells):
    if isinstance(node, float):
        return node
    if isinstance(node, str):
        return cells[node]
    operator, *rest = node
    values = [value(one, cells) for one in rest]
    if operator in FUNCTIONS:
        return FUNCTIONS[operator](values)
    a, b = values
    if operator == "+":
        return a + b
    if operator == "-":
        return a - b
    return math.fmod(a * b, 1e6) if operator == "*" else a / b if abs(b) > 1e-3 else 0.0


def work(sheets):
    rng, found = random.Random(1979), []
    for _ in range(sheets):
        cells = {f"{letter}{row}": rng.uniform(-50, 50) for letter in "ABCDEFGH" for row in range(1, 30)}
        total = 0.0
        for _ in range(60):
            text = formula(rng, 5)
            node, end = Parser(text).total(0)
            assert end == len(text)
            total += math.fmod(value(node, cells), 1000.0)
        found.append(total)
    return found


if __name__ == "__main__":
    harness.main(work, repeats=800)
