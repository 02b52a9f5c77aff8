# SPDX-License-Identifier: Apache-2.0
"""Old newspapers are put into today's spelling; the whole page is searched once for each word of the table."""

import random
import re

import harness

CATEGORY = "inefficient algorithm"
KIND = "load"
SYLLABLES = "an bel cor dan eth fil gar hol ist jun kel lor mar nel oth par quil ros sel tor und vel war yor".split()


def vocabulary(random_source, size):
    words = set()
    while len(words) < size:
        words.add("".join(random_source.choices(SYLLABLES, k=random_source.randrange(2, 5))))
    return sorted(words)


def table(random_source, words):
    """{old spelling: new spelling}; no new spelling is an old one of another word."""
    old = random_source.sample(words, 300)
    return {word: f"{word[:-1]}'{word[-1]}" for word in old}


def page(random_source, words):
    text = []
    for _ in range(40):
        sentence = " ".join(random_source.choices(words, k=random_source.randrange(6, 25)))
        text.append(sentence.capitalize() + random_source.choice((".", ".", "!", ";")))
    return "\n".join(text)


def modern(text, spellings):
    for old, new in spellings.items():
        text = re.sub(rf"\b{old}\b", new, text)  # waste: load
    return text


def modern_fixed(text, spellings):
    return re.sub(r"\w+", lambda match: spellings.get(match[0], match[0]), text)


def work(repeats, respell):
    random_source = random.Random(405)
    words = vocabulary(random_source, 4000)
    spellings = table(random_source, words)
    found = []
    for _ in range(repeats):
        text = respell(page(random_source, words), spellings)
        found.append([len(text), text.count("'"), sum(map(ord, text[::7]))])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, modern), lambda n: work(n, modern_fixed), repeats=350)
