# SPDX-License-Identifier: Apache-2.0
"""A cache that holds 20 MB of blocks of any size; the oldest give way."""

import collections
import random

from pace import rounds

cache = collections.deque()
chance = random.Random(7)
held = given = 0


def take(size):
    return bytes(size)


for number in rounds():
    while given < 280_000 * (number + 1):
        cache.append(take(round(200 * 4_000 ** chance.random())))
        given += len(cache[-1])
        held += len(cache[-1])
    while held > 20_000_000:
        held -= len(cache.popleft())
