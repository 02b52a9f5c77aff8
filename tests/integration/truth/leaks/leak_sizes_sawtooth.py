# SPDX-License-Identifier: Apache-2.0
"""Blocks that are kept, of a line whose smaller ones pile up and are let go four times."""
# HOLDER: kept
# LEAKED: 18e6

from pace import COUNT, rounds

kept = []
batch = []


def take(size):
    return bytes(size)  # LEAK


for number in rounds():
    batch.append([take(5_000) for _ in range(60)])
    if number % (COUNT // 4) == COUNT // 4 - 1:
        batch.clear()
    kept.append(take(100_000))
