# SPDX-License-Identifier: Apache-2.0
"""A line that makes the program's tables at its start, and temporaries of the same size ever after."""

from pace import rounds

tables = {}


def table(number):
    return "t" * 200_000 + str(number)


for number in rounds():
    for k in range(5):
        made = table(number)
        if number < 20:
            tables[number, k] = made
