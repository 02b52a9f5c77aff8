# SPDX-License-Identifier: Apache-2.0
"""Spare parts in the order that people expect (M8 before M10): every comparison splits both numbers anew."""

import functools
import random
import re

import harness

CATEGORY = "repeated native calls"
KIND = "store"
DIGITS = re.compile(r"(\d+)")
MAKES = ("M", "DIN-", "KX", "Seal ", "Valve-", "BRG", "m")


def delivery(rng, count):
    return [
        f"{rng.choice(MAKES)}{rng.randrange(1, 400)}{rng.choice('.-/x')}{rng.randrange(1, 2_000)}{rng.choice('ABCD')}"
        for _ in range(count)
    ]


def pieces(number):
    """Text and numbers by turns."""
    parts = DIGITS.split(number.lower())  # waste: store
    parts[1::2] = map(int, parts[1::2])  # waste: store
    return parts


def compare(one, other):
    left, right = pieces(one), pieces(other)  # waste: store
    return (left > right) - (left < right)


def arrange(numbers):
    return sorted(numbers, key=functools.cmp_to_key(compare))


def arrange_fixed(numbers):
    return sorted(numbers, key=pieces)


class Catalogue:
    """Pages of 50 parts; a page is known by its first and last part."""

    def __init__(self, numbers, order):
        self.numbers = order(numbers)

    def pages(self):
        for start in range(0, len(self.numbers), 50):
            page = self.numbers[start : start + 50]
            yield page[0], page[-1]


def work(repeats, order):
    rng = random.Random(933)
    found = []
    for _ in range(repeats):
        catalogue = Catalogue(delivery(rng, 1_500), order)
        found.extend(sum(map(ord, first)) - sum(map(ord, last)) for first, last in catalogue.pages())
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, arrange), lambda n: work(n, arrange_fixed), repeats=155)
