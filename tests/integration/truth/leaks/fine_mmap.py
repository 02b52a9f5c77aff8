# SPDX-License-Identifier: Apache-2.0
"""Anonymous mappings that are opened, used and closed; some of them live for a while."""

import collections
import mmap

from pace import COUNT, rounds

kept = collections.deque()

for number in rounds():
    mapping = mmap.mmap(-1, 500_000)
    mapping[:9] = b"something"
    mapping[400_000] = 1
    kept.append(mapping)
    if len(kept) > COUNT // 3:
        kept.popleft().close()
