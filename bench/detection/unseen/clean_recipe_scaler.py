# SPDX-License-Identifier: Apache-2.0
"""Cookery: ingredients are read from lines of old books, converted, and written for another number of guests."""

import collections
import random
import re
from fractions import Fraction

import harness

AMOUNT = re.compile(r"(?:(?P<whole>\d+)(?:\s+|$))?(?:(?P<above>\d+)/(?P<below>\d+)\s+)?"
                    r"(?P<unit>cups?|oz|lbs?|tsp|tbsp|pints?|pinch(?:es)?)?\s*(?P<food>[a-z' -]+)(?:,\s*(?P<how>.*))?")
MILLILITRES = {"cup": 284, "tsp": 6, "tbsp": 18, "pint": 568, "pinch": Fraction(1, 2)}
GRAMS = {"oz": Fraction(567, 20), "lb": Fraction(2268, 5)}
PLURALS = {"cups": "cup", "lbs": "lb", "pints": "pint", "pinches": "pinch"}
ADJECTIVES = ("brown", "chopped", "cold", "dried", "fine", "fresh", "green", "plain", "sharp", "small", "soft", "stale",
              "sweet", "thick", "white")
NOUNS = ("almonds", "apples", "barley", "beans", "bread", "butter", "cheese", "cherries", "cream", "currants", "flour",
         "honey", "lard", "leeks", "mace", "mutton", "oatmeal", "onions", "pears", "pepper", "suet", "sugar", "treacle")
WAYS = ("sifted", "well beaten", "cut in strips", "peeled and cored", "left overnight", "to taste", "rubbed to crumbs")
Part = collections.namedtuple("Part", "amount unit food how")


def line(rng):
    """As the books have it."""
    words = []
    if (has_whole := rng.random() < 0.8):
        words.append(str(rng.randrange(1, 12)))
    if not has_whole or rng.random() < 0.4:
        words.append(f"{rng.randrange(1, 4)}/{rng.choice((2, 3, 4, 8))}")
    if rng.random() < 0.8:
        words.append(rng.choice(("cup", "cups", "oz", "lb", "lbs", "tsp", "tbsp", "pint", "pinch")))
    words += [*rng.sample(ADJECTIVES, rng.randrange(3)), rng.choice(NOUNS)]
    return " ".join(words) + (f", {rng.choice(WAYS)}" if rng.random() < 0.4 else "")


def parse(text):
    match = AMOUNT.match(text)
    whole, above, below, unit, food, how = match.groups()
    amount = Fraction(int(whole or 0))
    if above:
        amount += Fraction(int(above), int(below))
    return Part(amount, PLURALS.get(unit, unit), food.strip(), how or "")


def metric(part, factor):
    """Scaled to the guests, in grams, millilitres or pieces."""
    amount = part.amount * factor
    if part.unit in GRAMS:
        return part._replace(amount=amount * GRAMS[part.unit], unit="g")
    if part.unit in MILLILITRES:
        return part._replace(amount=amount * MILLILITRES[part.unit], unit="ml")
    return part._replace(amount=amount, unit="")


def handy(amount, unit):
    """Steps that a kitchen's scales or a cook can tell apart: fives, or quarters of a piece."""
    if not unit:
        return Fraction(max(1, round(amount * 4)), 4)
    step = 5 if amount >= 20 else 1
    return Fraction(max(1, round(amount / step)) * step)


def written(part):
    amount = handy(part.amount, part.unit)
    whole, rest = divmod(amount.numerator, amount.denominator)
    number = f"{whole or ''}{' ' if whole and rest else ''}{f'{rest}/{amount.denominator}' if rest else ''}"
    return f"{number} {part.unit} {part.food}{f' ({part.how})' if part.how else ''}"


def book(rng, recipes):
    """Letters that are written, and what the pantry needs of the commonest foods."""
    pantry, letters = collections.Counter(), 0
    for _ in range(recipes):
        factor = Fraction(rng.randrange(2, 40), rng.choice((4, 6, 8)))
        for _ in range(rng.randrange(4, 14)):
            part = metric(parse(line(rng)), factor)
            letters += len(written(part))
            pantry[part.food.rsplit(" ", 1)[-1], part.unit] += part.amount
    needs = [float(amount) for _, amount in sorted(pantry.items(), key=lambda item: (-item[1], item[0]))[:5]]
    return [letters, len(pantry), *needs]


def work(books):
    rng = random.Random(7123)
    return [book(rng, 40) for _ in range(books)]


if __name__ == "__main__":
    harness.main(work, repeats=1100)
