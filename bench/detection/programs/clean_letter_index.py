# SPDX-License-Identifier: Apache-2.0
"""Letters of a family archive: an inverted index answers questions of several words by the BM25 rule."""

import collections
import heapq
import math
import random

import harness

K1, B = 1.3, 0.7
LETTERS = 1500
SYLLABLES = ("ba", "ro", "lin", "ter", "mo", "sa", "ve", "ku", "din", "gar", "el", "pho", "ni", "tas", "we", "rim")


def words(rng, count):
    return sorted({"".join(rng.choices(SYLLABLES, k=rng.randrange(2, 5))) for _ in range(count)})


def letters(rng, vocabulary):
    """Texts with the common words of everybody and the rare ones of a subject."""
    common = vocabulary[:200]
    for _ in range(LETTERS):
        at = rng.randrange(200, len(vocabulary) - 60)
        subject = vocabulary[at:at + 60]
        count = rng.randrange(40, 220)
        yield " ".join(rng.choices(common, k=count) + rng.choices(subject, k=count // 2))


class Index:
    def __init__(self):
        self.postings = collections.defaultdict(list)
        self.lengths = []
        self.weights = {}

    def add(self, text):
        counts = collections.Counter(text.split())
        number = len(self.lengths)
        for word, count in counts.items():
            self.postings[word].append((number, count))
        self.lengths.append(counts.total())

    def close(self):
        """What each word is worth in each letter, worked out once."""
        mean = sum(self.lengths) / len(self.lengths)
        norms = [K1 * (1 - B + B * length / mean) for length in self.lengths]
        for word, places in self.postings.items():
            rarity = math.log(1 + (len(norms) - len(places) + 0.5) / (len(places) + 0.5))
            self.weights[word] = [(number, rarity * count * (K1 + 1) / (count + norms[number]))
                                  for number, count in places]

    def ask(self, question, best=10):
        scores = collections.defaultdict(float)
        for word in question:
            for number, weight in self.weights.get(word, ()):
                scores[number] += weight
        return heapq.nlargest(best, scores.items(), key=lambda item: (item[1], -item[0]))


def question(rng, vocabulary):
    """Two rare words that go together, one that may not, and a common one."""
    at = rng.randrange(200, len(vocabulary) - 60)
    return [vocabulary[at], vocabulary[at + 7], rng.choice(vocabulary), rng.choice(vocabulary[:200])]


def overlap(one, other):
    return len({number for number, _ in one} & {number for number, _ in other})


def work(rounds):
    rng, rows = random.Random(628), []
    for _ in range(rounds):
        vocabulary = words(rng, 1400)
        index = Index()
        for text in letters(rng, vocabulary):
            index.add(text)
        index.close()
        last = []
        for _ in range(400):
            found = index.ask(question(rng, vocabulary))
            rows.append([len(found), found[0][0], round(found[0][1], 6), overlap(found, last)])
            last = found
    return rows


if __name__ == "__main__":
    harness.main(work, repeats=18)
