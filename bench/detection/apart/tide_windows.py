# SPDX-License-Identifier: Apache-2.0
"""Tides from a gauge that writes its level each second: means of sliding windows, added up one level at a time."""

import array
import math
import random

import harness

CATEGORY = "slice underutilization"
KIND = "load"
SECONDS, WINDOW, STEP = 40_000, 600, 20


def day(random_source):
    """Millimetres above the zero of the gauge, with waves."""
    phase, tide, levels = random_source.uniform(0.0, 6.0), random_source.uniform(900.0, 1800.0), array.array("i")
    for second in range(SECONDS):
        swell = 80.0 * math.sin(second / 1.9 + phase)
        levels.append(int(3000.0 + tide * math.sin(second / 7117.0 + phase) + swell + random_source.random() * 30.0))
    return levels


def smooth(levels):
    """Sums of windows."""
    sums = []
    for start in range(0, len(levels) - WINDOW + 1, STEP):
        total = 0
        for i in range(start, start + WINDOW):
            total += levels[i]  # waste: load
        sums.append(total)
    return sums


def smooth_fixed(levels):
    return [sum(levels[start : start + WINDOW]) for start in range(0, len(levels) - WINDOW + 1, STEP)]


def turns(sums):
    """Where the water turns: [(number of the window, sum)]."""
    return [(i, sums[i]) for i in range(1, len(sums) - 1) if (sums[i] - sums[i - 1]) * (sums[i + 1] - sums[i]) < 0]


def work(repeats, average):
    random_source = random.Random(411)
    found = []
    for _ in range(repeats):
        water = turns(average(day(random_source)))
        found.append([len(water), sum(i for i, _ in water), sum(total for _, total in water) / WINDOW])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, smooth), lambda n: work(n, smooth_fixed), repeats=60)
