# SPDX-License-Identifier: Apache-2.0
"""The last events, a fixed number of them."""

import collections

from pace import COUNT, rounds

EVENTS = collections.deque(maxlen=COUNT * 10 // 2)

for number in rounds():
    for _ in range(10):
        EVENTS.append((number, bytes(25_000)))
