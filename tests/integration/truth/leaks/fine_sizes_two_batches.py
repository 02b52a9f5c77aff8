# SPDX-License-Identifier: Apache-2.0
"""Two sizes pile up and are let go, one when the other is at half of its height."""

from pace import COUNT, rounds

small = []
large = []


def take(size):
    return bytes(size)


for number in rounds():
    small.append([take(2_000) for _ in range(60)])
    if number % (COUNT // 3) == COUNT // 3 - 1:
        small.clear()
    large.append(take(150_000))
    if number % (COUNT // 3) == COUNT // 6:
        large.clear()
