# SPDX-License-Identifier: Apache-2.0
"""Distances between dialects: edit distances of their words with costs by class of sound, in plain Python."""

import functools
import itertools
import random

import harness

VOWELS, STOPS, LIQUIDS = "aeiouyøæ", "pbtdkg", "lrmn"
SOUNDS = VOWELS + STOPS + LIQUIDS + "fvszhj"
CLASS = {sound: number for number, part in enumerate((VOWELS, STOPS, LIQUIDS, "fvszhj")) for sound in part}


def costs():
    """Of one sound in place of another: cheap within a class, dear between vowels and consonants."""
    table = {}
    for one, other in itertools.product(SOUNDS, repeat=2):
        near = CLASS[one] == CLASS[other]
        mixed = (CLASS[one] == 0) != (CLASS[other] == 0)
        table[one, other] = 0.0 if one == other else 0.4 if near else 1.9 if mixed else 0.9
    return table


COSTS = costs()


@functools.lru_cache(maxsize=20_000)  # villages share words
def distance(one, other):
    """Of two words, divided by the longer one's length."""
    above = list(range(len(other) + 1))
    for number, sound in enumerate(one, 1):
        left = number
        row = [left]
        for place, target in enumerate(other):
            left = min(above[place] + COSTS[sound, target], above[place + 1] + 1.0, left + 1.0)
            row.append(left)
        above = row
    return above[-1] / max(len(one), len(other))


class Village:
    """Words drift away from those of the older village."""

    def __init__(self, source, words):
        self.random, self.words = source, words

    def shifted(self, sound):
        draw = self.random.random()
        if draw < 0.06:
            return self.random.choice([other for other in SOUNDS if CLASS[other] == CLASS[sound]])
        if draw < 0.08:
            return ""
        return sound + self.random.choice(SOUNDS) if draw < 0.1 else sound

    def daughter(self):
        words = ["".join(map(self.shifted, word)) or word for word in self.words]
        return Village(self.random, words)


def settle(source, count):
    """Each village is the daughter of an earlier one."""
    start = ["".join(source.choices(SOUNDS, k=source.randrange(3, 11))) for _ in range(30)]
    villages = [Village(source, start)]
    while len(villages) < count:
        villages.append(source.choice(villages).daughter())
    return villages


def matrix(villages):
    """Mean distances of all pairs."""
    found = {}
    for (i, one), (j, other) in itertools.combinations(enumerate(villages), 2):
        pairs = [distance(*words) for words in zip(one.words, other.words) if words[0] != words[1]]
        found[i, j] = sum(pairs) / len(one.words)
    return found


def closest(table, count):
    """The nearest village of each."""
    near = [(9.0, -1)] * count
    for (i, j), far in table.items():
        near[i], near[j] = min(near[i], (far, j)), min(near[j], (far, i))
    return [number for _, number in near]


def work(regions):
    source = random.Random(1876)
    found = []
    for _ in range(regions):
        table = matrix(settle(source, 12))
        found.append([sum(table.values()), max(table.values()), *closest(table, 12)])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=600)
