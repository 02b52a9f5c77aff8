# SPDX-License-Identifier: Apache-2.0
"""What is kept becomes larger and larger, from 2 kB to 500 kB."""
# HOLDER: kept

from pace import COUNT, rounds

kept = []


def take(size):
    return bytes(size)  # LEAK


for number in rounds():
    kept.append(take(2_000 + 498_000 * number // COUNT))
