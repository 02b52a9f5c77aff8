# SPDX-License-Identifier: Apache-2.0
"""Calls that recurse, so that each contains thousands of others; one of them takes 200 times its usual time now and
then."""

import random

from common import loop, run

COUNT = 9000


def items(count):
    """(a small number, a list to sort, a tree, a board) of each iteration."""
    choice = random.Random(17)
    pool = [(choice.randrange(4, 8), [choice.random() for _ in range(choice.randrange(5, 60))], grown(choice, 5),
             min(8, 3 + int(choice.paretovariate(1.3) / 2))) for _ in range(2000)]
    return iter(choice.choices(pool, k=count))


def grown(choice, depth):
    return [grown(choice, depth - 1) for _ in range(choice.randrange(4))] if depth else []


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def quicksort(values):
    if len(values) < 2:
        return values
    pivot, less, more = values[0], [], []
    for value in values[1:]:
        (less if value < pivot else more).append(value)
    return quicksort(less) + [pivot] + quicksort(more)


def nodes(tree):
    count = 1
    for child in tree:
        count += nodes(child)
    return count


def queens(size, row=0, columns=0, down=0, up=0):
    """Ways to place queens on a board: the heavy tail."""
    if row == size:
        return 1
    ways = 0
    for column in range(size):
        if not (columns >> column & 1 or down >> (row + column) & 1 or up >> (row - column + size) & 1):
            ways += queens(size, row + 1, columns | 1 << column, down | 1 << (row + column), up | 1 << (row - column + size))
    return ways


def work(items):
    total = 0
    for number, values, tree, board in loop(items):
        total += fib(number)
        ordered = quicksort(values)
        total += nodes(tree)
        total += queens(board)
        if ordered[0] < 0.02:
            total += fib(14)
        text = repr(ordered)
        total += len(text)
        for step in range(10):
            total += step * number
    return total


if __name__ == "__main__":
    run(work, items, COUNT)
