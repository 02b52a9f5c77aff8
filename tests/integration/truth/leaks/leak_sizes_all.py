# SPDX-License-Identifier: Apache-2.0
"""Blocks of any size from 200 B to 800 kB are kept, as many of each order of size."""
# HOLDER: kept

import random

from pace import rounds

kept = []
chance = random.Random(7)
given = 0


def take(size):
    return bytes(size)  # LEAK


for number in rounds():
    while given < 250_000 * (number + 1):
        kept.append(take(round(200 * 4_000 ** chance.random())))
        given += len(kept[-1])
