# SPDX-License-Identifier: Apache-2.0
"""A cook book says what goes with leftovers; the lengths of all recipes' vectors are made per question."""

import numpy as np

import harness

CATEGORY = "repeated native calls"
KIND = "load"
RECIPES, FOODS = 4000, 150


def book(rng):
    """Grams of each food by recipe, on a logarithmic scale."""
    used = rng.random((RECIPES, FOODS)) < rng.beta(0.4, 4.0, size=FOODS)
    used[np.arange(RECIPES), rng.integers(FOODS, size=RECIPES)] = True
    return np.log1p(rng.gamma(2.0, 60.0, size=(RECIPES, FOODS))) * used


class CookBook:
    def __init__(self, grams):
        self.grams = grams

    def lengths(self):
        return np.linalg.norm(self.grams, axis=1)  # waste: load

    def best(self, fridge, count=5):
        """The recipes whose direction is next to that of the fridge, and how near they are."""
        cosines = self.grams @ fridge / (self.lengths() * np.linalg.norm(fridge))
        first = np.argpartition(cosines, -count)[-count:]
        first = first[np.argsort(-cosines[first])]
        return first, cosines[first]


class FixedCookBook(CookBook):
    def __init__(self, grams):
        super().__init__(grams)
        self.known = np.linalg.norm(grams, axis=1)

    def lengths(self):
        return self.known


def fridge(rng):
    content = np.zeros(FOODS)
    foods = rng.choice(FOODS, size=8, replace=False)
    content[foods] = np.log1p(rng.gamma(2.0, 80.0, size=8))
    return content


def work(repeats, kind):
    rng = np.random.default_rng(712)
    cook_book = kind(book(rng))
    found = []
    for _ in range(repeats):
        recipes, cosines = cook_book.best(fridge(rng))
        found.append([*recipes, *cosines])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, CookBook), lambda n: work(n, FixedCookBook), repeats=7000)
