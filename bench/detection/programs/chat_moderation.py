# SPDX-License-Identifier: Apache-2.0
"""Moderates the chat of a game: the pattern of forbidden words is put together again for each message."""

import random
import re

import harness

# The rules change once in a round, but each message escapes, sorts and joins them all: loop-invariant computation.
CATEGORY = "loop-invariant computation"
KIND = "load"
SYLLABLES = "ba do ki lu mar nex or pi qua rin sul ta ved wo xy zer".split()


def make_word(rng):
    return "".join(rng.choice(SYLLABLES) for _ in range(rng.randint(1, 3)))


def make_message(rng, words):
    return " ".join(rng.choice(words) for _ in range(rng.randint(20, 90))).capitalize() + rng.choice("?!.")


def build_pattern(banned):
    parts = sorted((re.escape(word) for word in banned), key=len, reverse=True)  # waste: load
    return r"\b(?:" + "|".join(parts) + r")\b"  # waste: load


def stars(match):
    return match.group()[0] + "*" * (len(match.group()) - 1)


def censor(message, banned):
    pattern = build_pattern(banned)  # waste: load
    return re.subn(pattern, stars, message, flags=re.IGNORECASE)


class Player:
    def __init__(self, name):
        self.name = name
        self.strikes = 0
        self.sent = 0

    def receive(self, text, hits):
        self.sent += len(text)
        if hits:
            self.strikes += hits


def moderate(messages, players, banned):
    for number, message in enumerate(messages):
        clean, hits = censor(message, banned)
        players[number % len(players)].receive(clean, hits)


def moderate_fixed(messages, players, banned):
    pattern = re.compile(build_pattern(banned), re.IGNORECASE)
    for number, message in enumerate(messages):
        clean, hits = pattern.subn(stars, message)
        players[number % len(players)].receive(clean, hits)


def work(rounds, run):
    rng = random.Random(4711)
    words = sorted({make_word(rng) for _ in range(3000)})
    banned = set(rng.sample([w for w in words if len(w) > 3], 150))
    players = [Player(f"p{i}") for i in range(13)]
    found = []
    for _ in range(rounds):
        banned.add(make_word(rng) + "s")
        run([make_message(rng, words) for _ in range(250)], players, banned)
        found.append(sum(p.strikes for p in players))
    return found + [p.sent for p in players]


if __name__ == "__main__":
    harness.main(lambda n: work(n, moderate), lambda n: work(n, moderate_fixed), repeats=75)
