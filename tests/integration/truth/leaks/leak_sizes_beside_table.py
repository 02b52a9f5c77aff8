# SPDX-License-Identifier: Apache-2.0
"""What leaks is a sixth of what the line has made for a table at the start, of small blocks."""
# HOLDER: kept
# LEAKED: 10.8e6
# BESIDE: 59.9e6

from pace import COUNT, rounds

kept = []
table = []


def take(size):
    return bytes(size)  # LEAK


for number in rounds():
    if number < COUNT // 10:
        table.append([take(170) for _ in range(16_000)])
    kept.append(take(60_000))
