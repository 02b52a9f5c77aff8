# SPDX-License-Identifier: Apache-2.0
"""Generators, comprehensions, sorting with keys and exceptions: many short stays on both sides of the boundary."""

from harness import run


def numbers(count):
    for i in range(count):
        yield i * 7919 % 1000


def careful(x):
    try:
        return 1000 // (x % 10)
    except ZeroDivisionError:
        return 0


def work(repeats):
    total = 0
    for _ in range(repeats):
        squares = [x * x for x in numbers(3000) if x % 3]
        total += sum(careful(x) for x in squares)
        total += sorted(squares, key=lambda x: (x % 17, x))[0]
        total += len({x % 101: x for x in squares})
    return total


run(work, 4800)
