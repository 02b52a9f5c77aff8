# SPDX-License-Identifier: Apache-2.0
"""Layers of ice cores sorted into climates by Gibbs sampling: each layer factorises the covariances of all climates."""

import numpy as np

import harness

# A sweep visits hundreds of layers while the few covariances stay as they are; each layer hands the same matrices to
# cholesky() and inv() again. The calls sit in a method that knows of no loop: repeated native calls.
CATEGORY = "repeated native calls"
KIND = "store"
IONS, CLIMATES = 14, 4


def layers(rng, count):
    """Concentrations of ions in the layers of a core, and the climate of each, which lasts for a while."""
    climate = np.repeat(rng.integers(CLIMATES, size=count // 12 + 1), 12)[:count]
    means = rng.normal(scale=1.4, size=(CLIMATES, IONS))
    mixing = rng.normal(scale=0.5, size=(CLIMATES, IONS, IONS)) + np.eye(IONS)
    noise = np.einsum("nij,nj->ni", mixing[climate], rng.normal(size=(count, IONS)))
    return means[climate] + noise, climate


class Climate:
    """One component of the mixture."""

    def __init__(self, mean, covariance, share):
        self.mean, self.covariance, self.share = mean, covariance, share

    def whitening(self):
        """A matrix that makes this climate's layers independent, and the log of its determinant."""
        lower = np.linalg.cholesky(self.covariance)  # waste: store
        return np.linalg.inv(lower), -np.log(np.diagonal(lower)).sum()  # waste: store

    def log_density(self, layer):
        matrix, scale = self.whitening()
        white = matrix @ (layer - self.mean)
        return np.log(self.share) + scale - 0.5 * white @ white


class FixedClimate(Climate):
    def __init__(self, mean, covariance, share):
        super().__init__(mean, covariance, share)
        self.known = super().whitening()

    def whitening(self):
        return self.known


class Sampler:
    def __init__(self, rng, samples, kind):
        self.rng, self.samples, self.kind = rng, samples, kind
        self.labels = rng.integers(CLIMATES, size=len(samples))

    def climates(self):
        found = []
        for number in range(CLIMATES):
            own = self.samples[self.labels == number]
            count = len(own)
            centre = own.sum(axis=0) / (count + 1.0)
            rest = own - centre
            spread = (rest.T @ rest + 2.0 * np.eye(IONS)) / (count + 2.0)
            found.append(self.kind(centre, spread, (count + 1.0) / (len(self.samples) + CLIMATES)))
        return found

    def draw(self, climates, layer):
        logs = np.array([climate.log_density(layer) for climate in climates])
        weights = np.exp(logs - logs.max())
        return np.searchsorted(np.cumsum(weights), self.rng.random() * weights.sum())

    def sweep(self):
        climates = self.climates()
        self.labels = np.array([self.draw(climates, layer) for layer in self.samples])


def agreement(labels, truth):
    """The share of layers whose label is the most frequent one of their climate."""
    table = np.zeros((CLIMATES, CLIMATES))
    np.add.at(table, (truth, labels), 1)
    return table.max(axis=1).sum() / len(truth)


def work(cores, kind):
    rng = np.random.default_rng(1957)
    found = []
    for _ in range(cores):
        samples, truth = layers(rng, 240)
        sampler = Sampler(rng, samples, kind)
        for _ in range(10):
            sampler.sweep()
        found.append([agreement(sampler.labels, truth), *np.sort(np.bincount(sampler.labels, minlength=CLIMATES))])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, Climate), lambda n: work(n, FixedClimate), repeats=36)
