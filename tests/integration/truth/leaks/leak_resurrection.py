# SPDX-License-Identifier: Apache-2.0
"""Cycles that the collector finds and that their __del__ brings back."""
# HOLDER: CLOSED

import gc

from pace import rounds

CLOSED = []


class Connection:
    def __init__(self):
        self.owner = self
        self.buffer = bytearray(25_000)  # LEAK

    def __del__(self):
        CLOSED.append(self)


for number in rounds():
    for _ in range(10):
        Connection()
    if number % 20 == 0:
        gc.collect()
