# SPDX-License-Identifier: Apache-2.0
"""Was an essay copied? Its words are indexed anew for each paragraph of the sources that it is compared with."""

import difflib
import random

import harness

CATEGORY = "loop-invariant computation"
KIND = "store"


def vocabulary(rng, count=3_000):
    return ["".join(rng.choices("abcdefghijklmnoprstuvw", k=rng.randrange(3, 11))) for _ in range(count)]


def paragraphs(rng, words, count):
    return [rng.choices(words, k=rng.randrange(15, 40)) for _ in range(count)]


def essay(rng, words, sources):
    """Own words, with some passages that are not."""
    text = rng.choices(words, k=1_500)
    for stolen in rng.sample(sources, 6):
        start, place = rng.randrange(5), rng.randrange(len(text))
        text[place:place] = stolen[start : start + rng.randrange(5, 30)]
    return text


def longest(text, paragraph):
    """How many words in a row both have."""
    matcher = difflib.SequenceMatcher(None, paragraph, text, autojunk=False)  # waste: store
    return matcher.find_longest_match().size


def suspicious(text, sources, least=5):
    lengths = (longest(text, paragraph) for paragraph in sources)  # waste: store
    return [length for length in lengths if length >= least]


def suspicious_fixed(text, sources, least=5):
    matcher = difflib.SequenceMatcher(None, [], text, autojunk=False)
    found = []
    for paragraph in sources:
        matcher.set_seq1(paragraph)
        found.append(matcher.find_longest_match().size)
    return [length for length in found if length >= least]


def work(repeats, check):
    rng = random.Random(1710)
    words = vocabulary(rng)
    sources = paragraphs(rng, words, 120)
    found = []
    for _ in range(repeats):
        lengths = check(essay(rng, words, sources), sources)
        found.append([len(lengths), sum(lengths), max(lengths, default=0)])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, suspicious), lambda n: work(n, suspicious_fixed), repeats=200)
