# SPDX-License-Identifier: Apache-2.0
"""Half-lives from the activity of irradiated samples: least squares with the exact derivatives, sample after sample."""

import numpy as np
import scipy.optimize

import harness

HALF_LIVES = np.array([[2.3, 14.0], [5.1, 61.0], [1.2, 33.0], [8.8, 120.0]])  # of mothers and daughters, minutes


def activity(times, mother, daughter, first, second):
    """Counts per minute of a chain: nuclei of the mother and the daughter at the start, and both decay constants."""
    gone, grown = np.exp(-mother * times), np.exp(-daughter * times)
    ratio = mother * daughter / (daughter - mother)
    return first * (mother * gone + ratio * (gone - grown)) + second * daughter * grown


class Chain:
    """Residuals of a measured curve; parameters are the logs of constants and nuclei."""

    def __init__(self, times, counts):
        self.times, self.counts = times, counts
        self.weights = 1.0 / np.sqrt(np.maximum(counts, 1.0))

    def residuals(self, logs):
        return self.weights * (activity(self.times, *np.exp(logs)) - self.counts)

    def slopes(self, logs):
        """Derivatives of the residuals by each parameter."""
        mother, daughter, first, second = np.exp(logs)
        times, gap = self.times, daughter - mother
        gone, grown = np.exp(-mother * times), np.exp(-daughter * times)
        ratio = mother * daughter / gap
        by_mother = first * (gone - mother * times * gone + (daughter / gap) ** 2 * (gone - grown) - ratio * times * gone)
        by_daughter = first * (-((mother / gap) ** 2) * (gone - grown) + ratio * times * grown)
        by_daughter += second * grown * (1.0 - daughter * times)
        by_first = mother * gone + ratio * (gone - grown)
        columns = (mother * by_mother, daughter * by_daughter, first * by_first, second * daughter * grown)
        return self.weights[:, None] * np.stack(columns, axis=1)

    def start(self):
        """From the slopes of the curve's two ends, on a log scale."""
        logs = np.log(np.maximum(self.counts, 1.0))
        part = len(logs) // 6
        early = -np.polyfit(self.times[:part], logs[:part], 1)[0]
        late = -np.polyfit(self.times[-part:], logs[-part:], 1)[0]
        fast, slow = max(early, 0.05), max(min(late, 0.5 * early), 0.002)
        return np.log([2.0 * fast, slow, self.counts[0] / fast, 0.2 * self.counts[0] / slow])

    def fit(self):
        return scipy.optimize.least_squares(self.residuals, self.start(), self.slopes, loss="soft_l1")


def sample(rng):
    """One irradiated foil on the counter: times get longer as the activity falls, and a few counts are outliers."""
    half_lives = HALF_LIVES[rng.integers(len(HALF_LIVES))] * rng.uniform(0.9, 1.1, 2)
    times = np.geomspace(0.2, 3.0 * half_lives[1], 120)
    nuclei = rng.lognormal([10.5, 9.5], 0.4)
    counts = rng.poisson(activity(times, *(np.log(2.0) / half_lives), *nuclei)).astype(float)
    counts[rng.random(counts.size) < 0.03] *= 1.5
    return half_lives, Chain(times, counts)


def work(samples):
    rng = np.random.default_rng(1898)
    found = []
    for _ in range(samples):
        truth, chain = sample(rng)
        done = chain.fit()
        found.append([*(np.log(2.0) / np.exp(done.x[:2]) / truth), min(done.cost, 1e4)])
    return np.quantile(found, [0.1, 0.25, 0.5, 0.75, 0.9], axis=0)


if __name__ == "__main__":
    harness.main(work, repeats=1500)
