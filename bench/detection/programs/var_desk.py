# SPDX-License-Identifier: Apache-2.0
"""Risk desk: value at risk of portfolios from simulated losses, all put in order for the worst of them."""

import numpy as np
from scipy import stats

import harness

# A partition finds the tail without sorting all of the losses: API misuse.
CATEGORY = "API misuse"
KIND = "load"
SCENARIOS = 200_000
FACTORS = ("rates", "equity", "credit", "dollar")
LEVELS = (0.95, 0.99, 0.999)


class Scenarios:
    """Moves of the factors, correlated, with fat tails."""

    def __init__(self, rng):
        half = rng.normal(0, 1, (len(FACTORS), len(FACTORS)))
        cov = half @ half.T + 2 * np.eye(len(FACTORS))
        scale = np.sqrt(np.diag(cov))
        root = np.linalg.cholesky(cov / np.outer(scale, scale))
        normal = rng.standard_normal((SCENARIOS, len(FACTORS)))
        chi = rng.chisquare(5, SCENARIOS) / 5
        self.moves = (normal @ root.T) / np.sqrt(chi)[:, None] * (0.011, 0.015, 0.009, 0.007)


class Portfolio:
    def __init__(self, number, rng):
        self.number = number
        self.deltas = rng.normal(0, 1e6, len(FACTORS))
        self.limit = float(rng.uniform(2e4, 8e4))

    def losses(self, moves):
        return moves @ -self.deltas


def tail(losses, count):
    """The worst losses, best first."""
    ordered = np.sort(losses)  # waste: load
    return ordered[-count:]


def tail_fixed(losses, count):
    return np.sort(np.partition(losses, len(losses) - count)[-count:])


def measures(worst):
    """Value at risk and expected shortfall for each level, from the tail of the losses."""
    found = []
    for level in LEVELS:
        count = round(SCENARIOS * (1 - level))
        part = worst[-count:]
        found += [float(part[0]), float(part.mean())]
    return found


def hill(worst, count=400):
    """Index of the tail."""
    part = np.log(worst[-count:])
    return float(1 / (part[1:] - part[0]).mean())


def normal_value(portfolio, moves):
    """What a normal distribution would say, for comparison."""
    deviation = float(np.sqrt(portfolio.deltas @ np.cov(moves[:2000].T) @ portfolio.deltas))
    return float(stats.norm.ppf(0.99)) * deviation


def desk(rng, tailing):
    scenarios, rows = Scenarios(rng), []
    for number in range(24):
        portfolio = Portfolio(number, rng)
        worst = tailing(portfolio.losses(scenarios.moves), round(SCENARIOS * 0.05))
        values = measures(worst)
        rows.append([*np.round(values, 3), round(hill(worst), 6), round(normal_value(portfolio, scenarios.moves), 3),
                     values[2] > portfolio.limit])
    return rows


def work(desks, tailing):
    rng = np.random.default_rng(622)
    return [desk(rng, tailing) for _ in range(desks)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, tail), lambda n: work(n, tail_fixed), repeats=15)
