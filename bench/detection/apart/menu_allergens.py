# SPDX-License-Identifier: Apache-2.0
"""Canteens: trays of guests are checked for allergens, from the ingredients that the kitchen wrote on the menu."""

import collections
import random
import re

import harness

# The text of a dish is split and matched for each tray that it is on, all day the same: repeated native calls.
CATEGORY = "repeated native calls"
KIND = "store"
FOODS = ("barley", "beef", "brie", "butter", "carrot", "cashew", "celery", "cheddar", "cod", "cream", "egg", "garlic",
         "hazelnut", "lupin", "milk", "mussel", "mustard", "oats", "onion", "pasta", "peanut", "pepper", "potato",
         "prawn", "rice", "rye", "salmon", "sesame", "soya", "spelt", "squid", "tofu", "tomato", "tuna", "walnut")
ALLERGENS = {
    "gluten": re.compile(r"\b(barley|oats|pasta|rye|spelt)\b"),
    "milk": re.compile(r"\b(brie|butter|cheddar|cream|milk)\b"),
    "nuts": re.compile(r"\b(cashew|hazelnut|walnut)\b"),
    "fish": re.compile(r"\b(cod|salmon|tuna)\b"),
    "shellfish": re.compile(r"\b(mussel|prawn|squid)\b"),
    "soya": re.compile(r"\b(soya|tofu)\b"),
    "egg": re.compile(r"\begg\b"),
    "celery": re.compile(r"\bcelery\b"),
    "sesame": re.compile(r"\bsesame\b"),
}
NAMES = list(ALLERGENS)
Guest = collections.namedtuple("Guest", "number avoids appetite budget")
Dish = collections.namedtuple("Dish", "name text cents grams")


def dishes(rng):
    """Today's dishes with the text that is printed below each."""
    for number in range(24):
        parts = rng.sample(FOODS, rng.randrange(4, 12))
        text = ", ".join(f"{part} ({rng.randrange(1, 30)} %)" for part in parts)
        yield Dish(f"dish {number}", text, rng.randrange(180, 720, 10), rng.randrange(120, 420))


def guests(rng, count):
    for number in range(count):
        avoids = frozenset(rng.sample(NAMES, rng.choice((0, 0, 1, 1, 2))))
        yield Guest(number, avoids, rng.randrange(300, 900), rng.randrange(500, 1500))


class Kitchen:
    def __init__(self, rng):
        self.menu = list(dishes(rng))
        self.known = {}

    def contents(self, dish):
        text = dish.text.lower()
        return frozenset(name for name, pattern in ALLERGENS.items() if pattern.search(text))  # waste: store

    def contents_fixed(self, dish):
        if dish.name not in self.known:
            self.known[dish.name] = self.contents(dish)
        return self.known[dish.name]


def tray(rng, menu, guest):
    """Dishes in the order in which the guest sees them, until appetite or money is gone."""
    grams, cents, chosen = 0, 0, []
    for dish in rng.sample(menu, 9):
        if cents + dish.cents <= guest.budget and grams < guest.appetite:
            chosen.append(dish)
            grams += dish.grams
            cents += dish.cents
    return chosen


def check(kitchen, guest, chosen, contents):
    """Dishes that may stay; the others are given back."""
    return [dish for dish in chosen if not contents(kitchen, dish) & guest.avoids]


def receipt(guest, kept):
    lines = [f"{dish.name:<12}{dish.cents / 100:6.2f}" for dish in sorted(kept, key=lambda dish: -dish.cents)]
    return "\n".join([f"guest {guest.number}", *lines])


def day(rng, contents):
    kitchen, sold, printed, back = Kitchen(rng), collections.Counter(), 0, 0
    for guest in guests(rng, 250):
        chosen = tray(rng, kitchen.menu, guest)
        kept = check(kitchen, guest, chosen, contents)
        sold.update(dish.name for dish in kept)
        printed += len(receipt(guest, kept))
        back += len(chosen) - len(kept)
    income = sum(sold[dish.name] * dish.cents for dish in kitchen.menu)
    return [printed, back, income, len(sold), max(sold.values())]


def work(days, contents):
    rng = random.Random(7207)
    return [day(rng, contents) for _ in range(days)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, Kitchen.contents), lambda n: work(n, Kitchen.contents_fixed), repeats=980)
