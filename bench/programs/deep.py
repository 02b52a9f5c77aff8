# SPDX-License-Identifier: Apache-2.0
"""Deep stacks: a walk hundreds of frames down, in Python and through C, with its work at the bottom."""

import sys

from harness import run

sys.setrecursionlimit(5000)


def bottom():
    x = 1
    for _ in range(3000):
        x = (x * 75 + 74) % 65537
    return x


def down(depth):
    return down(depth - 1) + 1 if depth else bottom()


def down_through_c(depth):
    return max(map(down_through_c, (depth - 1,))) + 1 if depth else bottom()


def work(repeats):
    return sum(down(700) + down_through_c(150) for _ in range(repeats))


run(work, 9500)
