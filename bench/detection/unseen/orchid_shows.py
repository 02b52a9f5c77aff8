# SPDX-License-Identifier: Apache-2.0
"""Flower shows: entries of the halls are put in one list, judged, and placed by class."""

import collections
import dataclasses
import itertools
import random
import statistics

import harness

# sum() of lists copies all that it has for each list; chain.from_iterable does not: API misuse.
CATEGORY = "API misuse"
KIND = "load"
GENERA = ("Cattleya", "Cymbidium", "Dendrobium", "Masdevallia", "Paphiopedilum", "Phalaenopsis", "Vanda")
HALLS, BENCHES = 12, 700


@dataclasses.dataclass(order=True)
class Entry:
    number: int
    genus: str
    grower: int
    marks: tuple


def bench(rng, start):
    """What stands on a bench, often from one grower."""
    grower = rng.randrange(4000)
    return [Entry(start + at, rng.choice(GENERA), grower if rng.random() < 0.8 else rng.randrange(4000),
                  tuple(rng.randrange(55, 101) for _ in range(5)))
            for at in range(rng.randrange(2, 8))]


def show(rng):
    halls, number = [], 1
    for _ in range(HALLS):
        hall = []
        for _ in range(BENCHES):
            hall.append(bench(rng, number))
            number += len(hall[-1])
        halls.append(hall)
    return halls


def all_entries(halls):
    benches = sum(halls, [])
    return sum(benches, [])  # waste: load


def all_entries_fixed(halls):
    return list(itertools.chain.from_iterable(itertools.chain.from_iterable(halls)))


def mean_mark(entry):
    """Without the highest and the lowest of the five judges."""
    return (sum(entry.marks) - max(entry.marks) - min(entry.marks)) / 3


def places(entries):
    """The first three of each class; of the same mark, the lower number."""
    classes = collections.defaultdict(list)
    for entry in entries:
        classes[entry.genus].append((-mean_mark(entry), entry.number))
    return {genus: sorted(found)[:3] for genus, found in classes.items()}


def growers(entries):
    """How many growers there are and how many entries the keenest has."""
    counts = collections.Counter(entry.grower for entry in entries)
    return len(counts), max(counts.values())


def judged_again(entries):
    """Judges who are far from the others: their number of such marks."""
    far = [0] * 5
    for entry in entries:
        middle = sorted(entry.marks)[2]
        for judge, mark in enumerate(entry.marks):
            if abs(mark - middle) > 30:
                far[judge] += 1
    return far


def report(halls, joining):
    entries = joining(halls)
    won = places(entries)
    best = [number for genus in GENERA for _, number in won.get(genus, ())]
    levels = statistics.fmean(entry.marks[0] for entry in entries)
    return [len(entries), sum(best), max(best), *growers(entries), *judged_again(entries), round(levels, 6)]


def work(shows, joining):
    rng = random.Random(7104)
    return [report(show(rng), joining) for _ in range(shows)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, all_entries), lambda n: work(n, all_entries_fixed), repeats=9)
