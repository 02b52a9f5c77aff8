# SPDX-License-Identifier: Apache-2.0
"""A window over the last two fifths of the run; what is older is dropped."""

import collections

from pace import COUNT, rounds

window = collections.defaultdict(list)

for number in rounds():
    for _ in range(10):
        window[number].append([float(number)] * 3_000)
    window.pop(number - COUNT * 4 // 10, None)
