# SPDX-License-Identifier: Apache-2.0
"""Odds of football matches: the probability of each result is a product of scipy's Poisson terms, one at a time."""

import numpy as np
from scipy.stats import poisson

import harness

CATEGORY = "API misuse"
KIND = "load"
MOST = 8
TEAMS = 18


class League:
    def __init__(self, rng):
        self.attack = rng.gamma(20.0, 0.05, size=TEAMS)
        self.defence = rng.gamma(20.0, 0.05, size=TEAMS)

    def expected(self, home, away):
        return 1.5 * self.attack[home] / self.defence[away], 1.2 * self.attack[away] / self.defence[home]

    def update(self, home, away, goals, conceded):
        first, second = self.expected(home, away)
        self.attack[home] *= 1.0 + 0.02 * np.tanh(goals - first)
        self.attack[away] *= 1.0 + 0.02 * np.tanh(conceded - second)


def results(first, second):
    """Probabilities of all results up to MOST goals."""
    table = np.empty((MOST + 1, MOST + 1))
    for i in range(MOST + 1):
        for j in range(MOST + 1):
            table[i, j] = poisson.pmf(i, first) * poisson.pmf(j, second)  # waste: load
    return table


def results_fixed(first, second):
    goals = np.arange(MOST + 1)
    return np.outer(poisson.pmf(goals, first), poisson.pmf(goals, second))


def odds(table):
    """Of a win, a draw, a defeat, and of more than two goals."""
    home, draw, away = np.tril(table, -1).sum(), np.trace(table), np.triu(table, 1).sum()
    many = table.sum() - sum(table[i, j] for i, j in ((0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (0, 2)))
    return np.array([home, draw, away, many]) / table.sum()


def work(repeats, tabulate):
    rng = np.random.default_rng(1863)
    league = League(rng)
    sums, gained = np.zeros(4), 0.0
    for _ in range(repeats):
        home, away = rng.choice(TEAMS, size=2, replace=False)
        first, second = league.expected(home, away)
        chances = odds(tabulate(first, second))
        goals, conceded = rng.poisson(first), rng.poisson(second)
        gained += np.log(chances[0 if goals > conceded else 1 if goals == conceded else 2])
        league.update(home, away, goals, conceded)
        sums += chances
    return [*sums, gained]


if __name__ == "__main__":
    harness.main(lambda n: work(n, results), lambda n: work(n, results_fixed), repeats=400)
