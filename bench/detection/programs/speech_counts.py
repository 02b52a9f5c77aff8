# SPDX-License-Identifier: Apache-2.0
"""Counts the words of speeches in parliament: for each word of the glossary, the whole list is counted again."""

import random

import harness

CATEGORY = "inefficient algorithm"
KIND = "load"
RANDOM = random.Random(1832)
SYLLABLES = ["".join(RANDOM.choices("bdfglmnprst", k=1)) + vowel for vowel in "aeiou" for _ in range(8)]
WORDS = sorted({"".join(RANDOM.choices(SYLLABLES, k=RANDOM.randrange(1, 5))) for _ in range(3_000)})
GLOSSARY = RANDOM.sample(WORDS, 150)


def speech(rng):
    words = (WORDS[min(int(rng.paretovariate(0.4)) - 1, len(WORDS) - 1)] for _ in range(rng.randrange(800, 3_000)))
    return ". ".join(" ".join(words).split("la "))


def counts(text):
    words = text.replace(".", "").split()
    return [words.count(word) for word in GLOSSARY]  # waste: load


def counts_fixed(text):
    found = dict.fromkeys(GLOSSARY, 0)
    for word in text.replace(".", "").split():
        if word in found:
            found[word] += 1
    return list(found.values())


def topics(found):
    """The glossary falls into ten topics of fifteen words."""
    return [sum(found[k : k + 15]) for k in range(0, len(found), 15)]


def work(repeats, count):
    rng = random.Random(1265)
    sums = [0] * 10
    strongest = 0
    for _ in range(repeats):
        found = topics(count(speech(rng)))
        sums = [a + b for a, b in zip(sums, found)]
        strongest += found.index(max(found))
    return [*sums, strongest]


if __name__ == "__main__":
    harness.main(lambda n: work(n, counts), lambda n: work(n, counts_fixed), repeats=1_200)
