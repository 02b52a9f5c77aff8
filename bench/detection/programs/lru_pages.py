# SPDX-License-Identifier: Apache-2.0
"""How large should a database's pool of pages be? Pages in the order of use are a list, searched at each access."""

import collections
import random

import harness

CATEGORY = "inefficient algorithm"
KIND = "load"


class Pool:
    """Keeps the pages that were used last; the oldest goes first."""

    def __init__(self, size):
        self.size = size
        self.pages = self.none()
        self.hits = self.reads = 0

    def none(self):
        return []

    def touch(self, page):
        if page not in self.pages:  # waste: load
            return False
        self.pages.remove(page)  # waste: load
        self.pages.append(page)
        return True

    def load(self, page):
        if len(self.pages) == self.size:
            self.pages.pop(0)
        self.pages.append(page)

    def read(self, page):
        self.reads += 1
        if self.touch(page):  # waste: load
            self.hits += 1
        else:
            self.load(page)


class FixedPool(Pool):
    def none(self):
        return collections.OrderedDict()

    def touch(self, page):
        if page not in self.pages:
            return False
        self.pages.move_to_end(page)
        return True

    def load(self, page):
        if len(self.pages) == self.size:
            self.pages.popitem(last=False)
        self.pages[page] = None


def accesses(rng, count):
    """Trees are walked from the root to a leaf; now and then a table is read from one end to the other."""
    while count > 0:
        if rng.random() < 0.01:
            first = rng.randrange(20_000, 60_000)
            pages = range(first, first + 60)
        else:
            leaf = int(6_000 * rng.paretovariate(0.9)) % 18_000
            pages = [leaf // 1_000, 20 + leaf // 50, 500 + leaf]
        yield from pages
        count -= len(pages)


def work(repeats, kind):
    rng = random.Random(1985)
    pools, found = [kind(size) for size in (200, 700, 1_500)], []
    for _ in range(repeats):
        for page in accesses(rng, 2_000):
            for pool in pools:
                pool.read(page)
        found.append([pool.hits / pool.reads for pool in pools])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, Pool), lambda n: work(n, FixedPool), repeats=145)
