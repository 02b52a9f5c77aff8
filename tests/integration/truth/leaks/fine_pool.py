# SPDX-License-Identifier: Apache-2.0
"""Buffers that are made as long as there are too few, and used again from then on."""

import collections

from pace import STEADY, rounds

FREE = collections.deque()
USED = collections.deque()
SIZE = 100_000


def take():
    return FREE.popleft() if FREE else bytearray(SIZE)


for number in rounds():
    for _ in range(5):
        buffer = take()
        buffer[:10] = b"0123456789"
        USED.append(buffer)
    if number >= STEADY * 3 // 4:
        for _ in range(5):
            FREE.append(USED.popleft())
