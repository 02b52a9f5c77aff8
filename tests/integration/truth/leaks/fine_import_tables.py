# SPDX-License-Identifier: Apache-2.0
"""Tables that are built while the program starts, for two fifths of its time, and then only read."""

from pace import COUNT, rounds

TABLES = {}

for number in rounds():
    if number < COUNT * 4 // 10:
        for k in range(20):
            TABLES[number, k] = [number * k] * 3_000
    else:
        sum(TABLES[number % (COUNT * 4 // 10), 7])
