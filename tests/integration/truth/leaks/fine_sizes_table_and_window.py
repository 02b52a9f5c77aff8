# SPDX-License-Identifier: Apache-2.0
"""A line fills a table of small blocks in the first half; ten large ones live for a third of the time each."""

import collections

from pace import COUNT, rounds

table = []
window = collections.deque(maxlen=3)


def take(size):
    return bytes(size)


for number in rounds():
    if number < COUNT // 2:
        table.append([take(4_000) for _ in range(150)])
    if number % (COUNT // 10) == COUNT // 20:
        window.append(take(2_500_000))
