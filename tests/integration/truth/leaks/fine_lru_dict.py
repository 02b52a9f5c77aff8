# SPDX-License-Identifier: Apache-2.0
"""A cache that drops what was used longest ago; full halfway."""

import collections

from pace import COUNT, rounds

CACHE = collections.OrderedDict()
LIMIT = COUNT * 10 // 2


def page(key):
    if key not in CACHE:
        CACHE[key] = {"key": key, "body": bytes(25_000)}
    CACHE.move_to_end(key)
    if len(CACHE) > LIMIT:
        CACHE.popitem(last=False)
    return CACHE[key]


for number in rounds():
    for k in range(10):
        page((number, k))
        page((number - 1, k))
