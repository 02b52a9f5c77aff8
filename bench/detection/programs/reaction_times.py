# SPDX-License-Identifier: Apache-2.0
"""Reaction times of two strategies, told apart by expectation maximisation with a new distribution for each trial."""

import numpy as np
import scipy.stats

import harness

# norm(mean, spread) builds and checks a whole distribution for one number; norm.pdf takes arrays of values, means and
# spreads. The arguments differ from trial to trial. The library is used against its grain: API misuse.
CATEGORY = "API misuse"
KIND = "load"


class Experiment:
    """Trials of one person: a quick guess or a slow decision, both slower with more choices on the screen."""

    def __init__(self, rng, trials):
        self.choices = rng.choice([2, 4, 8], size=trials)
        guess = rng.random(trials) < rng.uniform(0.2, 0.5)
        log_time = np.where(guess, rng.normal(-1.35, 0.18, trials), rng.normal(-0.55, 0.22, trials))
        self.log_time = log_time + 0.05 * np.log2(self.choices)

    @property
    def effort(self):
        return np.log2(self.choices)


def densities(values, means, spread):
    found = []
    for value, mean in zip(values, means):
        law = scipy.stats.norm(loc=mean, scale=spread)  # waste: load
        found.append(law.pdf(value))  # waste: load
    return np.array(found)


def densities_fixed(values, means, spread):
    return scipy.stats.norm.pdf(values, loc=means, scale=spread)


def weighted_line(effort, values, weights):
    """Intercept, slope and spread of a straight line through weighted points."""
    total = weights.sum()
    centre, level = weights @ effort / total, weights @ values / total
    slope = weights @ ((effort - centre) * (values - level)) / (weights @ (effort - centre) ** 2)
    rest = values - level - slope * (effort - centre)
    return level - slope * centre, slope, np.sqrt(weights @ rest**2 / total) + 1e-3


def separate(experiment, density, steps):
    """Expectation maximisation: the share of guesses and a line for each strategy."""
    values, effort = experiment.log_time, experiment.effort
    quick = (values < np.quantile(values, 0.35)).astype(float) * 0.8 + 0.1
    for _ in range(steps):
        share = quick.mean()
        lines = [weighted_line(effort, values, weights) for weights in (quick, 1.0 - quick)]
        likely = [density(values, start + slope * effort, spread) for start, slope, spread in lines]
        quick = share * likely[0] / (share * likely[0] + (1.0 - share) * likely[1] + 1e-300)
    return [quick.mean(), *lines[0], *lines[1]]


def work(persons, density):
    rng = np.random.default_rng(77)
    return [separate(Experiment(rng, 120), density, 8) for _ in range(persons)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, densities), lambda n: work(n, densities_fixed), repeats=9)
