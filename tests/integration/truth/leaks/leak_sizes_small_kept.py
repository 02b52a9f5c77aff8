# SPDX-License-Identifier: Apache-2.0
"""Small blocks that are kept, of a line whose large ones live for a quarter of the time."""
# HOLDER: kept
# BESIDE: 18.0e6

import collections

from pace import COUNT, rounds

kept = []
window = collections.deque(maxlen=COUNT // 4)


def take(size):
    return bytes(size)  # LEAK


for number in rounds():
    window.append(take(400_000))
    kept.append([take(450) for _ in range(515)])
