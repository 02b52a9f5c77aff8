# SPDX-License-Identifier: Apache-2.0
"""A cache without a bound."""
# HOLDER: CACHE

from pace import rounds

CACHE = {}


def page(key):
    if key not in CACHE:
        CACHE[key] = {"key": key, "body": bytes(25_000)}  # LEAK
    return CACHE[key]


for number in rounds():
    for k in range(10):
        page((number, k))
        page((number // 2, k))
