# SPDX-License-Identifier: Apache-2.0
"""functools.lru_cache without a limit, asked for something new each time."""
# HOLDER: render

import functools

from pace import rounds


@functools.lru_cache(maxsize=None)
def render(number):
    return [number] * 3_000  # LEAK


for number in rounds():
    for k in range(10):
        render(number * 10 + k)
