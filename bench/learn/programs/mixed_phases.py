# SPDX-License-Identifier: Apache-2.0
"""Costs that change after half of the run: one call becomes five times dearer, one five times cheaper, one begins only
then, and one function is called from two lines whose costs change places."""

import hashlib
import random

from common import loop, run

COUNT = 34_000
DATA = random.Random(19).randbytes(60_000)


def items(count):
    """(steps of scan, bytes to hash, steps of weigh on either line, late?, words to sort) of each iteration."""
    choice = random.Random(19)
    for number in range(count):
        late = number >= count // 2
        spread = choice.uniform(0.5, 1.5)
        words = [choice.randrange(1000) for _ in range(50)] if choice.random() < 0.02 else None
        yield (int((80 if late else 400) * spread), int((25_000 if late else 5000) * spread),
               int((300 if late else 60) * spread), int((60 if late else 300) * spread), late, words)


def scan(steps):
    total = 0
    for step in range(steps):
        total += step & 3
    return total


def weigh(steps):
    total = 1
    for step in range(steps):
        total = total * 75 % 65537
    return total


def work(items):
    total = 0
    for steps, size, first, second, late, words in loop(items):
        total += scan(steps)
        part = DATA[:size]
        digest = hashlib.sha256(part)
        total += weigh(first)
        total += weigh(second)
        name = digest.hexdigest()
        if late:
            total += part.count(b"ab")
        if words:
            words = sorted(words * 20)
        total += name > "8"
    return total


if __name__ == "__main__":
    run(work, items, COUNT)
