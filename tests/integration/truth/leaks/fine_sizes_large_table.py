# SPDX-License-Identifier: Apache-2.0
"""A line fills a table of large blocks in the first half; smaller ones live for a quarter of the time."""

import collections

from pace import COUNT, rounds

table = []
window = collections.deque(maxlen=COUNT // 4)


def take(size):
    return bytes(size)


for number in rounds():
    if number < COUNT // 2:
        table.append([take(150_000) for _ in range(2)])
    window.append([take(9_000) for _ in range(4)])
