# SPDX-License-Identifier: Apache-2.0
"""How many species does a net catch? Each animal of a sample is drawn by a call of its own, with all abundances."""

import numpy as np

import harness

# Generator.choice checks and adds up all probabilities in each call; it has an argument for the number of draws.
CATEGORY = "API misuse"
KIND = "load"


class Community:
    """Log-normal abundances of the species of a reef."""

    def __init__(self, rng, species):
        raw = rng.lognormal(0.0, 1.6, size=species)
        self.shares = raw / raw.sum()
        self.sizes = rng.gamma(2.0, 4.0, size=species)

    def disturb(self, rng):
        raw = self.shares * rng.lognormal(0.0, 0.2, size=len(self.shares))
        self.shares = raw / raw.sum()


def sample(rng, community, animals):
    caught = []
    for _ in range(animals):
        caught.append(rng.choice(len(community.shares), p=community.shares))  # waste: load
    return np.array(caught)


def sample_fixed(rng, community, animals):
    return rng.choice(len(community.shares), size=animals, p=community.shares)


def chao1(caught):
    """An estimate of the number of species from those that were seen once and twice."""
    _, counts = np.unique(caught, return_counts=True)
    once, twice = np.count_nonzero(counts == 1), np.count_nonzero(counts == 2)
    return len(counts) + once * (once - 1) / (2 * (twice + 1))


def rarefaction(rng, caught, steps):
    shuffled = rng.permutation(caught)
    return [len(np.unique(shuffled[:n])) for n in np.linspace(10, len(caught), steps).astype(int)]


def shannon(caught):
    _, counts = np.unique(caught, return_counts=True)
    p = counts / counts.sum()
    return -(p * np.log(p)).sum()


def work(hauls, draw):
    rng = np.random.default_rng(62)
    reef, found = Community(rng, 900), []
    for _ in range(hauls):
        reef.disturb(rng)
        caught = draw(rng, reef, 800)
        curve = rarefaction(rng, caught, 60)
        found.append([chao1(caught), shannon(caught), reef.sizes[caught].mean(), sum(curve)])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, sample), lambda n: work(n, sample_fixed), repeats=250)
