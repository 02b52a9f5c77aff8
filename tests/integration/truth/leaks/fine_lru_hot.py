# SPDX-License-Identifier: Apache-2.0
"""A cache of the last recently used, full after a third of the time: a hot part of it stays, the rest changes all the
time."""

import collections

from pace import rounds

LIMIT, HOT = 600, 200
cache = collections.OrderedDict()


def look_up(key):
    if key in cache:
        cache.move_to_end(key)
        return cache[key]
    if len(cache) >= LIMIT:
        cache.popitem(last=False)
    cache[key] = str(key) * 3 + "v" * 40_000
    return cache[key]


for number in rounds():
    for k in range(10):
        look_up(number * 10 + k)
    for key in range(HOT):
        if key in cache or number < 30:
            look_up(key)
