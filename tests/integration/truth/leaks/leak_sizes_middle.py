# SPDX-License-Identifier: Apache-2.0
"""Sixteen pages in each round are kept, of a line that makes small temporaries and large blocks of a bounded cache
too."""
# HOLDER: kept
# BESIDE: 13.8e6

from pace import COUNT, rounds

kept = []
cache = {}


def take(size):
    return bytes(size)  # LEAK


for number in rounds():
    cache[number % (COUNT // 4)] = take(300_000)
    passing = [take(1_000) for _ in range(300)]
    kept.append([take(15_600) for _ in range(16)])
