# SPDX-License-Identifier: Apache-2.0
"""Slots whose blocks are replaced by lot; sizes differ by factors of fifteen."""

import random

from pace import rounds

slots = {}
chance = random.Random(7)


def take(size):
    return bytes(size)


for number in rounds():
    for kind, size in enumerate((2_000, 30_000, 450_000)):
        for _ in range((16, 4, 1)[kind]):
            slots[kind, chance.randrange((800, 200, 50)[kind])] = take(size)
