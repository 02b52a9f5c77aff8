# SPDX-License-Identifier: Apache-2.0
"""A memo that is emptied when it is full, every seventh part of the run."""

from pace import COUNT, rounds

MEMO = {}
LIMIT = COUNT * 10 // 7


def power(key):
    if key not in MEMO:
        if len(MEMO) >= LIMIT:
            MEMO.clear()
        MEMO[key] = [key] * 3_000
    return MEMO[key]


for number in rounds():
    for k in range(10):
        power(number * 10 + k)
