# SPDX-License-Identifier: Apache-2.0
"""Keywords of customer reviews: the stop words of three lists are joined into one set within the loop over reviews."""

import collections
import random

import harness

CATEGORY = "loop-invariant computation"
KIND = "store"
RANDOM = random.Random(2)
VOCABULARY = ["".join(RANDOM.choices("aeioulnrstdm", k=RANDOM.randrange(2, 9))) for _ in range(5000)]
COMMON, SHOP, NAMES = VOCABULARY[:250], VOCABULARY[250:420], VOCABULARY[4500:]


def reviews(rng, count):
    for _ in range(count):
        picks = (min(int(rng.paretovariate(0.6)) - 1, 4999) for _ in range(rng.randrange(10, 40)))
        yield " ".join(VOCABULARY[k] for k in picks)


def keywords(texts):
    counts = collections.Counter()
    for text in texts:
        ignored = {word.casefold() for word in COMMON + SHOP + NAMES}  # waste: store
        counts.update(word for word in text.split() if word not in ignored)
    return counts


def keywords_fixed(texts):
    ignored = {word.casefold() for word in COMMON + SHOP + NAMES}
    counts = collections.Counter()
    for text in texts:
        counts.update(word for word in text.split() if word not in ignored)
    return counts


def figures(counts):
    """How many keywords, how often the ten most frequent ones come, and their letters."""
    top = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:10]
    return [len(counts), sum(count for _, count in top), sum(len(word) for word, _ in top)]


def work(repeats, extract):
    rng = random.Random(77)
    return [figures(extract(reviews(rng, 500))) for _ in range(repeats)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, keywords), lambda n: work(n, keywords_fixed), repeats=120)
