# SPDX-License-Identifier: Apache-2.0
"""A large block in each fifth round is kept, of a line whose small ones live for a quarter of the time."""
# HOLDER: kept
# BESIDE: 8.6e6

import collections

from pace import COUNT, rounds

kept = []
window = collections.deque(maxlen=COUNT // 4)


def take(size):
    return bytes(size)  # LEAK


for number in rounds():
    window.append([take(600) for _ in range(300)])
    if number % 5 == 0:
        kept.append(take(1_250_000))
