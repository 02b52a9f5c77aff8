# SPDX-License-Identifier: Apache-2.0
"""A batch every sixth part of the run: its rows are gathered, told and let go; the last report stays until the next."""

from pace import COUNT, rounds

report, rows = None, []

for number in rounds():
    for _ in range(10):
        rows.append("row" * 10_000 + str(number))
    if number % (COUNT // 6) == COUNT // 6 - 1:
        report = "".join(rows)
        rows = []
