# SPDX-License-Identifier: Apache-2.0
"""Calls whose results differ each time, by 1e-10 of themselves at most, and by far more.

usage: near.py SECONDS_OF_EACH
"""
import math
import sys
import time

ITEMS = [1.0] * 1000
until = time.perf_counter() + float(sys.argv[1])
i = 0
while time.perf_counter() < until:
    for _ in range(20):
        i += 1
        ITEMS[0] = 1.0 + i % 1000 * 1e-10
        math.fsum(ITEMS)  # near
until += float(sys.argv[1])
while time.perf_counter() < until:
    for _ in range(20):
        i += 1
        ITEMS[0] = 1.0 + i % 1000
        math.fsum(ITEMS)  # far
print("{}")
