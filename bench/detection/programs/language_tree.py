# SPDX-License-Identifier: Apache-2.0
"""Which texts are of one language, by the distance of their compressed sizes; each text is compressed for each pair."""

import random
import zlib

import harness

CATEGORY = "repeated native calls"
KIND = "store"
LANGUAGES, TEXTS = 5, 20
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def dictionary(random_source):
    """Words of one language; it likes some letters."""
    weights = [random_source.random() ** 3 for _ in LETTERS]
    return ["".join(random_source.choices(LETTERS, weights, k=random_source.randrange(2, 9))) for _ in range(600)]


def texts(random_source):
    """[(number of the language, text)]"""
    words = [dictionary(random_source) for _ in range(LANGUAGES)]
    found = []
    for number in range(TEXTS):
        language = number % LANGUAGES
        found.append((language, " ".join(random_source.choices(words[language], k=900)).encode()))
    return found


def distance(first, second):
    """The normalised compression distance."""
    alone = len(zlib.compress(first, 9)), len(zlib.compress(second, 9))  # waste: store
    together = len(zlib.compress(first + second, 9))
    return (together - min(alone)) / max(alone)


def distance_fixed(first, second, alone):
    together = len(zlib.compress(first + second, 9))
    return (together - min(alone)) / max(alone)


def nearest(collection):
    """For each text the other one that is nearest to it, with its distance."""
    found = []
    for i, text in enumerate(collection):
        others = ((distance(text, other), j) for j, other in enumerate(collection) if j != i)
        found.append(min(others))
    return found


def nearest_fixed(collection):
    sizes, found = [len(zlib.compress(text, 9)) for text in collection], []
    for i, text in enumerate(collection):
        others = (
            (distance_fixed(text, other, (sizes[i], sizes[j])), j) for j, other in enumerate(collection) if j != i
        )
        found.append(min(others))
    return found


def work(repeats, compare):
    random_source = random.Random(409)
    found = []
    for _ in range(repeats):
        collection = texts(random_source)
        neighbours = compare([text for _, text in collection])
        right = sum(collection[i][0] == collection[j][0] for i, (_, j) in enumerate(neighbours))
        found.append([right, sum(far for far, _ in neighbours), sum(j for _, j in neighbours)])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, nearest), lambda n: work(n, nearest_fixed), repeats=45)
