# SPDX-License-Identifier: Apache-2.0
"""Growth for half of the time, then all of it is released."""

from pace import COUNT, rounds

loaded = []

for number in rounds():
    if number < COUNT // 2:
        for _ in range(20):
            loaded.append(bytes(25_000))
    elif loaded:
        loaded.clear()
