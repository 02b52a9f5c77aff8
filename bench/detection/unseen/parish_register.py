# SPDX-License-Identifier: Apache-2.0
"""Parish registers: lines that a clerk wrote are taken apart into people, places and trades, then counted."""

import collections
import random
import re

import harness

# The set of trades is made of the same list for each line of a register: loop-invariant computation.
CATEGORY = "loop-invariant computation"
KIND = "store"
STEMS = ("bak", "brew", "carpent", "coop", "curri", "cutl", "dy", "farri", "full", "glov", "hatt", "join", "mill",
         "plumb", "pott", "sadd", "sail", "spinn", "tann", "thatch", "turn", "weav", "wheel", "whitt")
ENDINGS = ("er", "ER", "or", "ster", "wright", "monger")
FORENAMES = ("Agnes", "Ambrose", "Cecily", "Edith", "Giles", "Hester", "Joan", "Miles", "Ralph", "Walter")
PLACES = ("Ashwell", "Burford", "Clare", "Deal", "Eye", "Frome", "Hythe")
LINE = re.compile(r"(\d+) (\w+)\. (\w+) (\w+)(?:, (\w+))?, of (\w+)(?:, aged (\d+))?")
MONTH_NAMES = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
MONTHS = {name: number for number, name in enumerate(MONTH_NAMES, 1)}
Person = collections.namedtuple("Person", "day month forename surname trade place age")


def trades(rng):
    """As a county's list has them, with spellings of each clerk."""
    found = [f"{stem}{ending}" for stem in STEMS for ending in ENDINGS]
    rng.shuffle(found)
    return found


def surname(rng):
    return "".join(rng.choices("bcdfghklmnprst", k=2)).title() + rng.choice(("ford", "ham", "ley", "son", "ton"))


def register(rng, known, lines):
    """A year's baptisms, marriages and burials, one in a line."""
    words = known[:40] + ["widow", "infant", "pauper"]
    for _ in range(lines):
        text = f"{rng.randrange(1, 29)} {rng.choice(MONTH_NAMES)}. {rng.choice(FORENAMES)} {surname(rng)}"
        if rng.random() < 0.7:
            text += f", {rng.choice(words)}"
        text += f", of {rng.choice(PLACES)}"
        yield text + (f", aged {rng.randrange(1, 90)}" if rng.random() < 0.4 else "")


def read(line, is_trade):
    match = LINE.match(line)
    day, month, forename, name, word, place, age = match.groups()
    trade = word.lower() if word and is_trade(word.lower()) else ""
    return Person(int(day), MONTHS[month], forename, name, trade, place, int(age or 0))


def people(lines, known):
    found = []
    for line in lines:
        words = {trade.lower() for trade in known}  # waste: store
        found.append(read(line, words.__contains__))
    return found


def people_fixed(lines, known):
    words = {trade.lower() for trade in known}
    return [read(line, words.__contains__) for line in lines]


def families(found):
    """How many people have the commonest surname of each place."""
    names = collections.defaultdict(collections.Counter)
    for person in found:
        names[person.place][person.surname] += 1
    return [max(names[place].values(), default=0) for place in PLACES]


def seasons(found):
    quarters = [0] * 4
    for person in found:
        quarters[(person.month - 1) // 3] += 1
    return quarters


def summary(found):
    ages = sorted(person.age for person in found if person.age)
    counts = collections.Counter(person.trade for person in found)
    idle = counts.pop("", 0)
    return [len(found), idle, len(counts), max(counts.values()), ages[len(ages) // 2], *seasons(found),
            *families(found)]


def work(years, reading):
    rng = random.Random(7112)
    known = trades(rng)
    return [summary(reading(register(rng, known, 300), known)) for _ in range(years)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, people), lambda n: work(n, people_fixed), repeats=1300)
