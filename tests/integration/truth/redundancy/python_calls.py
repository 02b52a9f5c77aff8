# SPDX-License-Identifier: Apache-2.0
"""Calls of Python functions, of libraries and of own code, whose arguments repeat or do not, by lines.

usage: python_calls.py CPU_SECONDS_OF_EACH (those that are to be found: twice as long)
"""
import copy
import itertools
import re
import statistics
import sys
import textwrap
import time

SECONDS = float(sys.argv[1])
TREE = [[i, str(i)] for i in range(12)]
TEXT = "the quick brown fox " * 20
NUMBERS = [float(i % 17) for i in range(120)]
COEFFICIENTS = tuple(NUMBERS[:12])
COUNTER = itertools.count()
MEMO = {}


def repeat(body, seconds):
    until, i = time.thread_time() + seconds, 0
    while time.thread_time() < until:
        for _ in range(20):
            body(i)
            i += 1


def polynomial(numbers, x):
    """Work of own code, by its arguments alone."""
    total = 0.0
    for _ in range(10):
        for number in numbers:
            total = total * x + number
    return total


def ticket():
    """Another result each time, though it has no arguments."""
    for _ in range(40):
        next(COUNTER)
    return f"ticket {next(COUNTER)}"


def advance(step):
    """Changes the world, and says the same each time."""
    for _ in range(40):
        MEMO[next(COUNTER) % 10] = step
    return True


def report(step):
    """Changes the world, and makes the same each time."""
    for _ in range(40):
        MEMO[next(COUNTER) % 10] = step
    return ["changed", step]


def memoized(n):
    """The same object again, which is kept."""
    for _ in range(40):
        MEMO.get(n)
    return MEMO.setdefault(n, [n, n + 1])


def climb(n, height):
    """Calls itself, each time with another number."""
    if height == 0:
        return [n, n + 1]
    return climb(n + 100000, height - 1)[:1] + [n]  # recursion


def odd(n):
    """Leaves by an exception every other time."""
    for _ in range(40):
        MEMO.get(n)
    if n % 2 == 0:
        raise ValueError(n)
    return [n]


def refused(n):
    for _ in range(40):
        MEMO.get(n)
    raise ValueError(n)


def generated(n):
    for i in range(40):
        yield i * n


class Walker:
    """Its state is not seen from outside."""

    def __init__(self):
        self.at = 0

    def step(self, size):
        for _ in range(40):
            self.at += size
        return [self.at]


WALKER = Walker()


def deepcopied(i):
    return copy.deepcopy(TREE)  # deepcopied


def filled(i):
    return textwrap.fill(TEXT, width=60)  # filled


def substituted(i):
    return re.sub(r"o(\w)", r"0\1", TEXT)  # substituted


def own(i):
    return polynomial(COEFFICIENTS, 0.5)  # own


def named(i):
    return polynomial(x=0.25, numbers=COEFFICIENTS)  # named


def other(i):
    return polynomial(COEFFICIENTS, 1.0 / (1 + i))  # other


def other_in_library(i):
    return statistics.mean(NUMBERS[: 20 + i % 100] + [float(i)])  # library


def no_arguments(i):
    return ticket()  # ticket


def effect(i):
    return advance(0.5)  # effect


def reported(i):
    return report(0.5)  # report


def kept(i):
    return memoized(7)  # kept


def recursion(i):
    return climb(i, 10)


def failing(i):
    try:
        return refused(7)  # failing
    except ValueError:
        return None


def sometimes(i):
    try:
        return odd(i)  # odd
    except ValueError:
        return None


def generator(i):
    return sum(generated(7))  # generator


def method(i):
    return WALKER.step(1)  # method


for body in (deepcopied, filled, substituted, own, named):
    repeat(body, 2 * SECONDS)
for body in (other, other_in_library, no_arguments, effect, reported, kept, recursion, failing, sometimes, generator, method):
    repeat(body, SECONDS)
