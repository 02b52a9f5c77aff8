# SPDX-License-Identifier: Apache-2.0
"""Adds up a column of a large table, all rows of which it keeps at once.

usage: peak.py FOLDER
"""

import pathlib
import random
import sys
import time

ROWS = 400_000


def write_table(path):
    rng = random.Random(20260)
    block = "".join(f"{n},{rng.randrange(1000)},{rng.random():.6f}\n" for n in range(1000))
    with path.open("w") as file:
        for _ in range(ROWS // 1000):
            file.write(block)


def column_sum(path, column):
    with path.open() as file:
        rows = [line.split(",") for line in file]  # planted
    time.sleep(0.1)
    return sum(float(row[column]) for row in rows)


def main():
    path = pathlib.Path(sys.argv[1]) / "table.csv"
    write_table(path)
    print(f"{column_sum(path, 2):.3f}")


main()
