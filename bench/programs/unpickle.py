# SPDX-License-Identifier: Apache-2.0
"""Unpickling: one native function that makes objects, with calls of Python constructors."""

import collections
import datetime
import pickle

from harness import run

Point = collections.namedtuple("Point", "x y label")


class Item:
    def __init__(self, n):
        self.n, self.name, self.when = n, f"item {n}", datetime.date(2020, 1, 1 + n % 28)

    def __setstate__(self, state):
        self.__dict__.update(state)


def work(repeats):
    data = pickle.dumps([[Item(i), Point(i, i / 3, str(i)), {"k": [i] * 5}] for i in range(1000)])
    for _ in range(repeats):
        again = pickle.loads(data)
    return len(again)


run(work, 2300)
