# SPDX-License-Identifier: Apache-2.0
"""Complaints sorted into topics: for each strength of smoothing that is tried, all texts are counted anew."""

import random

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import f1_score
from sklearn.naive_bayes import MultinomialNB

import harness

# The features depend on the texts of the fold, not on alpha, the variable of the loop: loop-invariant computation.
CATEGORY = "loop-invariant computation"
KIND = "store"
ALPHAS = tuple(10.0 ** (number / 4.0) for number in range(-12, 5))
TOPICS = {
    "delay": "late train bus waited hours missed connection schedule platform arrival timetable",
    "price": "ticket fare expensive refund charge card price discount fee account",
    "staff": "rude driver conductor helpful uniform shouting counter answered phone manager",
    "comfort": "seat dirty heating cold window broken toilet smell crowded luggage",
    "access": "ramp wheelchair lift stairs door narrow sign blind loud announcement",
}
COMMON = "the a my on in was is very again to for of and not this that we they day time week please".split()


class Mailbox:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.words = {topic: text.split() for topic, text in TOPICS.items()}
        self.rare = [f"line{number}" for number in range(300)]

    def complaint(self):
        draw = self.random
        topic, other = draw.choice(list(TOPICS)), draw.choice(list(TOPICS))
        length = draw.randrange(12, 55)
        pools = draw.choices((COMMON, self.words[topic], self.words[other], self.rare), (12, 3, 2, 1.5), k=length)
        return " ".join(draw.choice(pool) for pool in pools), topic

    def batch(self, count):
        texts, topics = zip(*(self.complaint() for _ in range(count)))
        return np.array(texts, dtype=object), np.array(topics)


def vectorizer():
    return TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True)


def score(alpha, features, topics, others, truth):
    model = MultinomialNB(alpha=alpha).fit(features, topics)
    return f1_score(truth, model.predict(others), average="macro")


def search(texts, topics, held_out):
    """Scores of all alphas on the texts that are held out."""
    found = []
    for alpha in ALPHAS:
        counter = vectorizer()
        features = counter.fit_transform(texts[~held_out])  # waste: store
        others = counter.transform(texts[held_out])  # waste: store
        found.append(score(alpha, features, topics[~held_out], others, topics[held_out]))
    return found


def search_fixed(texts, topics, held_out):
    counter = vectorizer()
    features, others = counter.fit_transform(texts[~held_out]), counter.transform(texts[held_out])
    return [score(alpha, features, topics[~held_out], others, topics[held_out]) for alpha in ALPHAS]


def work(months, choose):
    mailbox, found = Mailbox(311), []
    for _ in range(months):
        texts, topics = mailbox.batch(400)
        folds = np.arange(len(texts)) % 4
        scores = np.mean([choose(texts, topics, folds == fold) for fold in range(4)], axis=0)
        found.append([*scores, ALPHAS[int(np.argmax(scores))]])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, search), lambda n: work(n, search_fixed), repeats=5)
