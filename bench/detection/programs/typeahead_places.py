# SPDX-License-Identifier: Apache-2.0
"""Suggestions while somebody types the name of a place: all names are stripped of accents again at every key."""

import random
import unicodedata

import harness

CATEGORY = "repeated native calls"
KIND = "store"
SYLLABLES = ("São", "mé", "ló", "Åre", "bö", "tun", "şa", "ñe", "ri", "Küs", "na", "vík", "čel", "do", "lý", "ham")


def fold(text):
    """Without accents and upper case."""
    letters = unicodedata.normalize("NFKD", text)  # waste: store
    return "".join(letter for letter in letters if not unicodedata.combining(letter)).casefold()  # waste: store


class Places:
    def __init__(self, people):
        self.people = people

    def matching(self, prefix):
        wanted = fold(prefix)
        return [name for name in self.people if fold(name).startswith(wanted)]  # waste: store

    def suggest(self, prefix, count=5):
        """The largest places that begin so."""
        return sorted(self.matching(prefix), key=self.people.get, reverse=True)[:count]


class FixedPlaces(Places):
    def __init__(self, people):
        super().__init__(people)
        self.folded = [(fold(name), name) for name in people]

    def matching(self, prefix):
        wanted = fold(prefix)
        return [name for folded, name in self.folded if folded.startswith(wanted)]


def gazetteer(rng, count):
    names = {"".join(rng.choices(SYLLABLES, k=rng.randrange(2, 6))).capitalize() for _ in range(count)}
    return {name: rng.randrange(100, 2_000_000) for name in sorted(names)}


def visit(rng, places):
    """Types a name until the place is among the suggestions; returns the number of keys."""
    wanted = rng.choice(list(places.people))
    for keys in range(1, len(wanted) + 1):
        if wanted in places.suggest(wanted[:keys]):
            break
    return keys


def work(repeats, kind):
    rng = random.Random(1569)
    places = kind(gazetteer(rng, 2_500))
    return [visit(rng, places) for _ in range(repeats)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, Places), lambda n: work(n, FixedPlaces), repeats=370)
