# SPDX-License-Identifier: Apache-2.0
"""One large block in five rounds, of a line that makes two thousand small ones in each."""
# HOLDER: snapshots

from pace import rounds

snapshots = []


def take(number):
    return [bytes(500) for _ in range(2_000)] if number % 5 else [bytearray(1_250_000)]  # LEAK


for number in rounds():
    taken = take(number)
    if number % 5 == 0:
        snapshots.append(taken)
