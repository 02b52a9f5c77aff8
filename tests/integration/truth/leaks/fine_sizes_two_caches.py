# SPDX-License-Identifier: Apache-2.0
"""Two caches of blocks of one line: that of small ones is full after half of the time, that of large ones earlier."""

from pace import COUNT, rounds

small = {}
large = {}


def take(size):
    return bytes(size)


for number in rounds():
    for n in range(100):
        if (100 * number + n) % (100 * COUNT // 2) not in small:
            small[100 * number + n] = take(1_500)
    large[number % (COUNT // 3)] = take(120_000)
