# SPDX-License-Identifier: Apache-2.0
"""Rosters of choirs in the order of a dictionary: each comparison of two names folds both of them once more."""

import functools
import random
import unicodedata

import harness

# A name takes part in a dozen comparisons, and its folded form is the same in each: the library's normalize() gets the
# same text again and again. It is not tied to one loop (sort() drives it), so repeated native calls.
CATEGORY = "repeated native calls"
KIND = "store"

FIRST = ("Zoë", "André", "Jürgen", "Åsa", "Chloé", "Łukasz", "Šárka", "Nuño", "Øystein", "Íris", "Beyza", "Ève", "Tomáš")
LAST = ("Müller", "Ørsted", "Étienne", "Dvořák", "Núñez", "Ångström", "Gómez", "Çelik", "Weiß", "Þórsson", "Żak", "O’Neill")
VOICES = ("soprano", "alto", "tenor", "bass")


class Singer:
    __slots__ = ("first", "last", "voice", "joined", "paid")

    def __init__(self, source):
        self.first = source.choice(FIRST) + source.choice(("", "", "-Marie", " Ágnes"))
        self.last = source.choice(LAST) + source.choice(("", "", "-" + source.choice(LAST)))
        self.voice = source.choice(VOICES)
        self.joined = source.randrange(1978, 2024)
        self.paid = source.random() < 0.9


def folded(text):
    """As dictionaries order it: no accents, no case; sharp s as two."""
    plain = unicodedata.normalize("NFKD", text)  # waste: store
    return "".join(letter for letter in plain if not unicodedata.combining(letter)).casefold()  # waste: store


def order(one, other):
    for left, right in ((one.last, other.last), (one.first, other.first)):
        left, right = folded(left), folded(right)  # waste: store
        if left != right:
            return -1 if left < right else 1
    return one.joined - other.joined


def by_name(singers):
    return sorted(singers, key=functools.cmp_to_key(order))


def by_name_fixed(singers):
    return sorted(singers, key=lambda singer: (folded(singer.last), folded(singer.first), singer.joined))


def pages(singers, lines):
    """The printed roster: voices one after the other, in columns of so many lines, each with its range of names."""
    found = []
    for voice in VOICES:
        part = [singer for singer in singers if singer.voice == voice]
        for start in range(0, len(part), lines):
            column = part[start:start + lines]
            found.append((voice, column[0].last[:3], column[-1].last[:3], column))
    return found


def reminders(columns):
    """Who has not paid yet: position on the page counts, since the treasurer ticks them off there."""
    return [number * 100 + place for number, (*_, column) in enumerate(columns)
            for place, singer in enumerate(column) if not singer.paid]


def work(choirs, sort):
    source = random.Random(1848)
    found = []
    for _ in range(choirs):
        singers = [Singer(source) for _ in range(source.randrange(150, 400))]
        columns = pages(sort(singers), 32)
        ticks = reminders(columns)
        years = sum(singer.joined * place for *_, column in columns for place, singer in enumerate(column))
        found.append([len(columns), sum(ticks), years])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, by_name), lambda n: work(n, by_name_fixed), repeats=1100)
