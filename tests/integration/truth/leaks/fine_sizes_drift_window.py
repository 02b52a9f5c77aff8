# SPDX-License-Identifier: Apache-2.0
"""A window over blocks that become larger and larger, from 2 kB to 500 kB."""

import collections

from pace import COUNT, rounds

window = collections.deque(maxlen=COUNT // 4)


def take(size):
    return bytes(size)


for number in rounds():
    window.append(take(2_000 + 498_000 * number // COUNT))
