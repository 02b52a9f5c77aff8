# SPDX-License-Identifier: Apache-2.0
"""Delivery fees by street: the expensive part, a fuzzy look-up of misspelt streets, has a cache that most calls hit."""

import functools
import random

import harness

ROOTS = "linden oak river church station market school mill garden castle bridge forest harbour hill north".split()
STREETS = sorted({f"{a} {b}" for a in ROOTS for b in ("street", "road", "lane", "square", "alley")})


def misspelt(rng, street):
    if rng.random() < 0.6:
        return street
    place = rng.randrange(1, len(street) - 1)
    return street[:place] + rng.choice(["", street[place + 1], street[place] * 2]) + street[place + 1 :]


def distance(one, other, limit):
    """Edits between two words, or limit if there are more."""
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        corner, row[0] = row[0], i
        for j, second in enumerate(other, 1):
            corner, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, corner + (letter != second))
        if min(row) >= limit:
            return limit
    return min(row[-1], limit)


@functools.lru_cache(maxsize=20_000)
def street_number(written):
    best, found = 4, -1
    for number, street in enumerate(STREETS):
        if abs(len(street) - len(written)) < best and street[0] == written[0]:
            edits = distance(written, street, best)
            if edits < best:
                best, found = edits, number
                if edits == 0:
                    break
    return found


def parcels(rng, count):
    for _ in range(count):
        yield misspelt(rng, rng.choice(STREETS)), rng.randrange(100, 20_000)


def work(repeats):
    fees, unknown = [0] * len(STREETS), 0
    for written, grams in parcels(random.Random(17), repeats):
        number = street_number(written)
        if number < 0:
            unknown += 1
        else:
            fees[number] += 290 + grams // 1000 * 45
    return [*fees, unknown]


if __name__ == "__main__":
    harness.main(work, repeats=1_600_000)
