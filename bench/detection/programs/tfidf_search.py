# SPDX-License-Identifier: Apache-2.0
"""A search in recipes, whose words are counted and weighed again for each question that is asked."""

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

import harness

CATEGORY = "repeated native calls"
KIND = "store"


def words(rng, count):
    syllables = ["ka", "lo", "mi", "ter", "sun", "per", "du", "fe", "ran", "os", "vi", "bel"]
    return ["".join(rng.choice(syllables, size=rng.integers(2, 5))) for _ in range(count)]


def recipes(rng, vocabulary, count):
    ranks = np.minimum(rng.zipf(1.3, size=(count, 80)) - 1, len(vocabulary) - 1)
    return [" ".join(vocabulary[rank] for rank in row) for row in ranks]


class Search:
    def __init__(self, texts):
        self.texts = texts

    def index(self):
        vectorizer = TfidfVectorizer()
        weights = vectorizer.fit_transform(self.texts)  # waste: store
        return vectorizer, weights

    def ask(self, question):
        vectorizer, weights = self.index()
        scores = (weights @ vectorizer.transform([question]).T).toarray().ravel()
        best = int(scores.argmax())
        return best, round(scores[best], 6)


class FixedSearch(Search):
    def __init__(self, texts):
        super().__init__(texts)
        self.made = super().index()

    def index(self):
        return self.made


def work(repeats, kind):
    rng = np.random.default_rng(66)
    vocabulary = words(rng, 2000)
    search = kind(recipes(rng, vocabulary, 400))
    return [search.ask(" ".join(rng.choice(vocabulary[:300], size=4))) for _ in range(repeats)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, Search), lambda n: work(n, FixedSearch), repeats=1100)
