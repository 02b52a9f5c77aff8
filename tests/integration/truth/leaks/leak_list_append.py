# SPDX-License-Identifier: Apache-2.0
"""A list that grows entry by entry: one block, which realloc() makes larger each time."""

from pace import rounds

log = []


def note(entries):
    for _ in range(entries):
        log.append(None)  # LEAK


for number in rounds():
    note(31_250)
