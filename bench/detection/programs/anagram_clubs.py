# SPDX-License-Identifier: Apache-2.0
"""Finds groups of anagrams in word lists of puzzle clubs; each word is compared with all groups so far."""

import random

import harness

CATEGORY = "inefficient algorithm"
KIND = "load"
SYLLABLES = "ar en st on re li ta no se ma te ro in al de ne".split()


def word_list(rng, size):
    words = set()
    while len(words) < size:
        word = "".join(rng.choices(SYLLABLES, k=rng.randrange(2, 4)))
        if rng.random() < 0.3:
            word = "".join(rng.sample(word, len(word)))
        words.add(word)
    return sorted(words)


def groups(words):
    found = []
    for word in words:
        for group in found:
            if sorted(group[0]) == sorted(word):  # waste: load
                group.append(word)
                break
        else:
            found.append([word])
    return found


def groups_fixed(words):
    found = {}
    for word in words:
        found.setdefault("".join(sorted(word)), []).append(word)
    return list(found.values())


def scores(clubs):
    """Points of a club: long words in large groups count most."""
    points, largest = 0, 0
    for group in clubs:
        if len(group) > 1:
            points += len(group) * len(group[0]) ** 2
            largest = max(largest, len(group))
    return [len(clubs), points, largest]


def work(repeats, divide):
    rng = random.Random(505)
    return [scores(divide(word_list(rng, 700))) for _ in range(repeats)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, groups), lambda n: work(n, groups_fixed), repeats=125)
