# SPDX-License-Identifier: Apache-2.0
"""Key words of speeches; the set of stop words is made from a list for each word that is tested."""

import collections
import math
import random
import re

import harness

# set(…) stands in the condition of the comprehension, and the list never changes: loop-invariant computation.
CATEGORY = "loop-invariant computation"
KIND = "load"
STOP = """i me my myself we our ours ourselves you your yours yourself he him his himself she her hers herself it its itself
they them their theirs themselves what which who whom this that these those am is are was were be been being have has had
having do does did doing a an the and but if or because as until while of at by for with about against between into
through during before after above below to from up down in out on off over under again further then once here there when
where why how all any both each few more most other some such no nor not only own same so than too very""".split()
TOPICS = ["tax", "school", "railway", "border", "harvest", "navy", "wage", "church", "tariff", "canal", "colony", "bank"]
ENDINGS = ["", "s", "ed", "ing", "ly", "ation"]


def speech(rng):
    subject = rng.choices(TOPICS, k=3)
    words = []
    for _ in range(rng.randrange(150, 700)):
        words.append(rng.choice(STOP) if rng.random() < 0.5 else rng.choice(subject + TOPICS) + rng.choice(ENDINGS))
    return " ".join(words).capitalize() + "."


def stem(word):
    for ending in ("ation", "ing", "ed", "ly", "s"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            return word[:-len(ending)]
    return word


def tokenize(text):
    return [stem(w) for w in re.findall(r"[a-z]+", text.lower()) if w not in set(STOP)]  # waste: load


def tokenize_fixed(text):
    stop = set(STOP)
    return [stem(w) for w in re.findall(r"[a-z]+", text.lower()) if w not in stop]


def keywords(documents):
    """The three words of each document with the largest tf-idf."""
    seen = collections.Counter()
    for words in documents:
        seen.update(set(words))
    for words in documents:
        counts = collections.Counter(words)
        scores = {w: n / len(words) * math.log(len(documents) / seen[w]) for w, n in counts.items()}
        yield sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))[:3]


def work(sessions, split):
    rng, found = random.Random(1832), []
    for _ in range(sessions):
        documents = [split(speech(rng)) for _ in range(25)]
        for best in keywords(documents):
            found.append([sum(score for _, score in best), sum(map(len, dict(best)))])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, tokenize), lambda n: work(n, tokenize_fixed), repeats=150)
