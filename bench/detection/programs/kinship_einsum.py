# SPDX-License-Identifier: Apache-2.0
"""How related are the herds of a breed? Products of several matrices are written as a single einsum."""

import numpy as np

import harness

# Without optimize=True, einsum loops over all indices of all factors at once: API misuse.
CATEGORY = "API misuse"
KIND = "load"
TRAITS = 4


class Breed:
    """Animals, their herds, and what they are like."""

    def __init__(self, rng, animals, herds):
        self.herd_of = rng.integers(herds, size=animals)
        self.shares = np.zeros((herds, animals))
        self.shares[self.herd_of, np.arange(animals)] = 1.0
        self.shares /= np.maximum(self.shares.sum(axis=1, keepdims=True), 1.0)
        self.markers = rng.binomial(2, rng.uniform(0.1, 0.9, 200), size=(animals, 200)).astype(float)
        self.effects = rng.normal(size=(200, TRAITS)) / 20.0

    def centred(self):
        frequency = self.markers.mean(axis=0) / 2.0
        kept = (frequency > 0.02) & (frequency < 0.98)
        return (self.markers - 2.0 * frequency)[:, kept], frequency[kept]

    def kinship(self):
        """VanRaden's matrix."""
        centred, frequency = self.centred()
        return centred @ centred.T / (2.0 * (frequency * (1.0 - frequency)).sum())

    def breeding_values(self):
        return (self.markers - self.markers.mean(axis=0)) @ self.effects


def between_herds(shares, kinship):
    return np.einsum("ha,ab,gb->hg", shares, kinship, shares)  # waste: load


def between_herds_fixed(shares, kinship):
    return np.einsum("ha,ab,gb->hg", shares, kinship, shares, optimize=True)


def next_generation(rng, breed):
    """The best animals of each herd are the parents of the next one."""
    values = breed.breeding_values().sum(axis=1)
    order = np.argsort(-values, kind="stable")
    parents = order[:len(order) // 4]
    mothers, fathers = rng.choice(parents, len(values)), rng.choice(parents, len(values))
    chances = (breed.markers[mothers] / 2.0, breed.markers[fathers] / 2.0)
    breed.markers = sum(rng.binomial(1, chance) for chance in chances).astype(float)


def distances(similarity):
    own = np.diag(similarity)
    return own[:, None] + own[None, :] - 2.0 * similarity


def work(breeds, comparing):
    rng, found = np.random.default_rng(84), []
    for _ in range(breeds):
        breed = Breed(rng, 150, 14)
        for _ in range(3):
            apart = distances(comparing(breed.shares, breed.kinship()))
            found.append([apart.max(), apart.mean(), np.median(apart), breed.breeding_values().mean()])
            next_generation(rng, breed)
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, between_herds), lambda n: work(n, between_herds_fixed), repeats=400)
