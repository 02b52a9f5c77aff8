# SPDX-License-Identifier: Apache-2.0
"""A default argument is made once, and keeps what was put into it."""
# HOLDER: collect

from pace import rounds


def collect(size, seen=[]):
    seen.append(bytearray(size))  # LEAK
    return len(seen)


for number in rounds():
    for _ in range(5):
        collect(50_000)
