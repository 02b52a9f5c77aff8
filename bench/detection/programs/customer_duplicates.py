# SPDX-License-Identifier: Apache-2.0
"""Misspelt customers are looked up by likeness; each comparison makes a new matcher, which indexes the name again."""

import difflib
import random

import harness

CATEGORY = "API misuse"
KIND = "load"
FIRST = ("Anna", "Bernd", "Clara", "Dieter", "Elena", "Frieda", "Georg", "Hanna", "Igor", "Johanna")
LAST = ("Albrecht", "Bergmann", "Christiansen", "Diekmann", "Eberhardt", "Friedrich", "Gutenberg", "Hoffmann")


def customers(random_source):
    names = []
    for first in FIRST:
        for last in LAST:
            names.append(f"{first} {last}, {random_source.choice(LAST)}weg {random_source.randrange(1, 90)}")
    return names


def misspelt(random_source, name):
    letters = list(name)
    for _ in range(2):
        place = random_source.randrange(len(letters) - 1)
        letters[place], letters[place + 1] = letters[place + 1], letters[place]
    return "".join(letters)


def nearest(query, names):
    best, found = 0.6, -1
    for number, name in enumerate(names):
        likeness = difflib.SequenceMatcher(None, name, query).ratio()  # waste: load
        if likeness > best:
            best, found = likeness, number
    return best, found


def nearest_fixed(query, names):
    matcher = difflib.SequenceMatcher(None, "", query)
    best, found = 0.6, -1
    for number, name in enumerate(names):
        matcher.set_seq1(name)
        if matcher.real_quick_ratio() > best and matcher.quick_ratio() > best:
            likeness = matcher.ratio()
            if likeness > best:
                best, found = likeness, number
    return best, found


def work(repeats, search):
    random_source = random.Random(112)
    names = customers(random_source)
    return [search(misspelt(random_source, random_source.choice(names)), names) for _ in range(repeats)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, nearest), lambda n: work(n, nearest_fixed), repeats=1400)
