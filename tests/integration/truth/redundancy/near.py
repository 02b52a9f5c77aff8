# SPDX-License-Identifier: Apache-2.0
"""Calls whose results differ each time, by 1e-10 of themselves at most, and by far more.

sum() is within the interpreter in every build, so results are compared and no memory is watched; math may be a library.

usage: near.py SECONDS_OF_EACH
"""
import sys
import time

ITEMS = [1.0] * 1000
until = time.process_time() + float(sys.argv[1])
i = 0
while time.process_time() < until:
    for _ in range(20):
        i += 1
        ITEMS[0] = 1.0 + i % 1000 * 1e-10
        sum(ITEMS)  # near
until += float(sys.argv[1])
while time.process_time() < until:
    for _ in range(20):
        i += 1
        ITEMS[0] = 1.0 + i % 1000
        sum(ITEMS)  # far
print("{}")
