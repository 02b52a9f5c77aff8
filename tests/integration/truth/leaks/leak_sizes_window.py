# SPDX-License-Identifier: Apache-2.0
"""Large blocks that are kept, of a line whose smaller ones live for a third of the time."""
# HOLDER: kept
# BESIDE: 24.0e6

import collections

from pace import COUNT, rounds

kept = []
window = collections.deque(maxlen=20 * COUNT // 3)


def take(size):
    return bytes(size)  # LEAK


for number in rounds():
    for _ in range(20):
        window.append(take(20_000))
    kept.append(take(250_000))
