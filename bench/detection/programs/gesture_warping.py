# SPDX-License-Identifier: Apache-2.0
"""Gestures of a hand are recognised by dynamic time warping, whose table of costs is an array filled cell by cell."""

import numpy as np

import harness

CATEGORY = "slice underutilization"
KIND = "load"
KINDS = 4


def gesture(rng, kind):
    """Turns of the hand over time, some slower than others."""
    length = int(rng.integers(60, 100))
    time = np.sort(rng.random(length))
    return np.sin((kind + 2) * np.pi * time) + (kind - 1.5) * time + rng.normal(0.0, 0.1, size=length)


def warped(first, second):
    """The least cost of all ways to lay one course on the other."""
    costs = np.full((len(first) + 1, len(second) + 1), np.inf)
    costs[0, 0] = 0.0
    for i in range(1, len(first) + 1):
        for j in range(1, len(second) + 1):
            far = abs(first[i - 1] - second[j - 1])  # waste: load
            costs[i, j] = far + min(costs[i - 1, j], costs[i, j - 1], costs[i - 1, j - 1])  # waste: load
    return costs[-1, -1]


def warped_fixed(first, second):
    """Along the diagonals, each of which needs only the two before it; a diagonal is indexed by i."""
    rows, columns = len(first), len(second)
    reversed_second = second[::-1]
    before, last = np.full(rows + 1, np.inf), np.full(rows + 1, np.inf)
    before[0] = 0.0
    for total in range(2, rows + columns + 1):
        low, high = max(1, total - columns), min(rows, total - 1)
        start = columns - total + low
        far = np.abs(first[low - 1 : high] - reversed_second[start : start + high - low + 1])
        now = np.full(rows + 1, np.inf)
        least = np.minimum(last[low - 1 : high], last[low : high + 1])
        now[low : high + 1] = far + np.minimum(least, before[low - 1 : high])
        before, last = last, now
    return last[rows]


def work(repeats, distance):
    rng = np.random.default_rng(414)
    known = [(kind, gesture(rng, kind)) for kind in range(KINDS)]
    found = []
    for number in range(repeats):
        shown = gesture(rng, number % KINDS)
        costs = [(distance(course, shown), kind) for kind, course in known]
        cost, kind = min(costs)
        found.append([cost, kind == number % KINDS])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, warped), lambda n: work(n, warped_fixed), repeats=300)
