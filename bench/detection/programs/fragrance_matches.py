# SPDX-License-Identifier: Apache-2.0
"""A shop suggests perfumes like the one that a visitor looks at; scaler and neighbours are fitted for each visit."""

import numpy as np
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

import harness

# The catalogue of a day is the same for all of its visits: loop-invariant computation.
CATEGORY = "loop-invariant computation"
KIND = "store"
NOTES = 24


class Shop:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.notes = self.rng.dirichlet(np.full(NOTES, 0.4), size=2500)
        self.price = self.rng.lognormal(4.0, 0.5, size=len(self.notes))
        self.seen = np.zeros(len(self.notes), dtype=int)

    def new_day(self):
        """A few products are replaced."""
        out = self.rng.choice(len(self.notes), size=20, replace=False)
        self.notes[out] = self.rng.dirichlet(np.full(NOTES, 0.4), size=20)
        self.price[out] *= self.rng.uniform(0.9, 1.1, size=20)

    def features(self):
        return np.column_stack([self.notes, np.log(self.price)])  # waste: store

    def suggest(self, product, k=12):
        scaler = StandardScaler()
        X = scaler.fit_transform(self.features())  # waste: store
        model = NearestNeighbors(n_neighbors=k, algorithm="ball_tree").fit(X)  # waste: store
        _, near = model.kneighbors(X[product:product + 1])
        return near[0]

    def visit(self, product):
        near = [int(i) for i in self.suggest(product) if i != product]
        budget = self.price[product] * 1.3
        shown = [i for i in near if self.price[i] <= budget]
        self.seen[shown] += 1
        return shown[0] if shown else int(self.rng.integers(len(self.notes)))

    def day(self, visits):
        self.new_day()
        product, total = int(self.rng.integers(len(self.notes))), 0.0
        for _ in range(visits):
            product = self.visit(product)
            total += self.price[product]
        return total


class FixedShop(Shop):
    def new_day(self):
        super().new_day()
        self.scaled = StandardScaler().fit_transform(self.features())
        self.model = NearestNeighbors(n_neighbors=12, algorithm="ball_tree").fit(self.scaled)

    def suggest(self, product, k=12):
        _, near = self.model.kneighbors(self.scaled[product:product + 1])
        return near[0]


def work(days, kind):
    shop = kind(190)
    return [shop.day(60) for _ in range(days)] + [float((shop.seen > 0).sum()), float(shop.seen.max())]


if __name__ == "__main__":
    harness.main(lambda n: work(n, Shop), lambda n: work(n, FixedShop), repeats=30)
