# SPDX-License-Identifier: Apache-2.0
"""Teeth of different heights, the highest in the middle."""

from pace import COUNT, rounds

HEIGHTS = (0.3, 0.7, 1.0, 0.5, 0.8, 0.4)
LENGTH = COUNT // len(HEIGHTS)
tooth = []

for number in rounds():
    if number % LENGTH == 0:
        tooth.clear()
    for _ in range(int(50 * HEIGHTS[number // LENGTH % len(HEIGHTS)])):
        tooth.append([number] * 3_000)
