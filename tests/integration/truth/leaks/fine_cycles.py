# SPDX-License-Identifier: Apache-2.0
"""Cycles with __del__ that the collector finds soon, and that stay dead."""

import gc

from pace import rounds


class Connection:
    closed = 0

    def __init__(self):
        self.owner = self
        self.buffer = bytearray(25_000)

    def __del__(self):
        Connection.closed += 1


for number in rounds():
    for _ in range(10):
        Connection()
    if number % 20 == 0:
        gc.collect()
