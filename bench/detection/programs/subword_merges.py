# SPDX-License-Identifier: Apache-2.0
"""Learns the merges of a byte pair encoding; after each merge, all pairs of all words are counted again."""

import collections
import random

import harness

# A merge changes few words, and yet every word is counted for the next one: inefficient algorithm.
CATEGORY = "inefficient algorithm"
KIND = "load"
STEMS = "wind sail mast rope deck keel crew port storm anchor harbour captain cargo island current compass".split()
PARTS = ["er", "ing", "s", "ed", "less", "man", "wards", "house", "line", "yard", "y", "ful"]


def corpus(rng, size):
    """Words with how often they come."""
    words = collections.Counter()
    for _ in range(size):
        word = rng.choice(STEMS) + "".join(rng.choices(PARTS, k=rng.randrange(3)))
        if rng.random() < 0.5:
            i = rng.randrange(len(word))
            word = word[:i] + rng.choice("aeioulnrst") + word[i:]
        words[word] += rng.randrange(1, 20)
    return words


def merge_pair(symbols, pair):
    merged, i = [], 0
    while i < len(symbols):
        if i + 1 < len(symbols) and (symbols[i], symbols[i + 1]) == pair:
            merged.append(symbols[i] + symbols[i + 1])
            i += 2
        else:
            merged.append(symbols[i])
            i += 1
    return merged


class Trainer:
    def __init__(self, words):
        self.words = words
        self.splits = {word: list(word) for word in words}

    def pair_freqs(self):
        freqs = collections.defaultdict(int)
        for word, n in self.words.items():
            symbols = self.splits[word]
            for i in range(len(symbols) - 1):  # waste: load
                freqs[symbols[i], symbols[i + 1]] += n  # waste: load
        return freqs

    def apply(self, pair):
        for word, symbols in self.splits.items():
            if pair[0] in symbols and pair[1] in symbols:
                self.splits[word] = merge_pair(symbols, pair)

    def train(self, merges):
        found = []
        for _ in range(merges):
            freqs = self.pair_freqs()  # waste: load
            best = max(freqs, key=lambda pair: (freqs[pair], pair))
            found.append((best, freqs[best]))
            self.apply(best)
        return found


class FixedTrainer(Trainer):
    def __init__(self, words):
        super().__init__(words)
        self.freqs = collections.Counter(super().pair_freqs())

    def pair_freqs(self):
        return self.freqs

    def apply(self, pair):
        for word, symbols in self.splits.items():
            if pair[0] in symbols and pair[1] in symbols:
                merged = merge_pair(symbols, pair)
                for old in zip(symbols, symbols[1:]):
                    self.freqs[old] -= self.words[word]
                for new in zip(merged, merged[1:]):
                    self.freqs[new] += self.words[word]
                self.splits[word] = merged


def work(corpora, kind):
    rng, found = random.Random(1912), []
    for _ in range(corpora):
        trainer = kind(corpus(rng, 2500))
        merges = trainer.train(120)
        found += [[count, len(a + b), ord(a[0]), ord(b[-1])] for (a, b), count in merges]
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, Trainer), lambda n: work(n, FixedTrainer), repeats=60)
