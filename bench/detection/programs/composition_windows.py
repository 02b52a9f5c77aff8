# SPDX-License-Identifier: Apache-2.0
"""Places of a genome with a probe's composition; each window is counted anew, though one letter has changed."""

import collections
import random

import harness

CATEGORY = "inefficient algorithm"
KIND = "load"
LENGTH = 20000


def genome(random_source):
    """Letters with a drifting preference."""
    letters, weights = [], [1.0, 1.0, 1.0, 1.0]
    for _ in range(LENGTH // 50):
        weights = [min(max(weight * random_source.uniform(0.9, 1.1), 0.5), 2.0) for weight in weights]
        letters.extend(random_source.choices("ACGT", weights, k=50))
    return "".join(letters)


def places(text, probe):
    size, wanted = len(probe), collections.Counter(probe)
    found = []
    for start in range(len(text) - size + 1):
        if collections.Counter(text[start : start + size]) == wanted:  # waste: load
            found.append(start)
    return found


def places_fixed(text, probe):
    size, wanted = len(probe), dict.fromkeys("ACGT", 0) | collections.Counter(probe)
    counts = dict.fromkeys("ACGT", 0) | collections.Counter(text[:size])
    found = [0] if counts == wanted else []
    for start in range(1, len(text) - size + 1):
        counts[text[start - 1]] -= 1
        counts[text[start + size - 1]] += 1
        if counts == wanted:
            found.append(start)
    return found


def crowded(starts, within=200):
    """The most places in one stretch."""
    most, first = 0, 0
    for last, start in enumerate(starts):
        while start - starts[first] > within:
            first += 1
        most = max(most, last - first + 1)
    return most


def work(repeats, search):
    random_source = random.Random(715)
    found = []
    for _ in range(repeats):
        text = genome(random_source)
        begin = random_source.randrange(LENGTH - 60)
        starts = search(text, text[begin : begin + random_source.randrange(30, 60)])
        found.append([len(starts), sum(starts), crowded(starts)])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, places), lambda n: work(n, places_fixed), repeats=130)
