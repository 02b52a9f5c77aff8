# SPDX-License-Identifier: Apache-2.0
"""The thousand best of all that came by."""

import heapq
import itertools
import random

from pace import rounds

random.seed(1)
best, order = [], itertools.count()

for number in rounds():
    for _ in range(20):
        entry = (random.random() + number / 500, next(order), bytes(25_000))
        if len(best) < 1_000:
            heapq.heappush(best, entry)
        else:
            heapq.heappushpop(best, entry)
