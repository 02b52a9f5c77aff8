# SPDX-License-Identifier: Apache-2.0
"""functools.lru_cache with a limit; full at 40 %."""

import functools

from pace import COUNT, rounds


@functools.lru_cache(maxsize=COUNT * 10 * 4 // 10)
def render(number):
    return [number] * 3_000


for number in rounds():
    for k in range(10):
        render(number * 10 + k)
