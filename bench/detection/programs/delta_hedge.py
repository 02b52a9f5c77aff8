# SPDX-License-Identifier: Apache-2.0
"""An option is hedged along simulated prices, with the general machinery of scipy.stats for one number at a time."""

import math

import numpy as np
from scipy.special import ndtr
from scipy.stats import norm

import harness

CATEGORY = "API misuse"
KIND = "load"
STRIKE, SIGMA, DAYS = 100.0, 0.25, 120


def moneyness(price, years):
    return (math.log(price / STRIKE) + 0.5 * SIGMA * SIGMA * years) / (SIGMA * math.sqrt(years))


def delta(price, years):
    return norm.cdf(moneyness(price, years))  # waste: load


def delta_fixed(price, years):
    return ndtr(moneyness(price, years))


def hedge(course, delta_of):
    """What the hedge earned; shares are only traded where the position is off by more than 3 percent."""
    shares, money = 0.0, 0.0
    for day, price in enumerate(course[:-1]):
        wanted = delta_of(price, (DAYS - day) / 252.0)
        if abs(wanted - shares) > 0.03:
            money -= (wanted - shares) * price + 0.0005 * abs(wanted - shares) * price
            shares = wanted
    return money + shares * course[-1] - max(course[-1] - STRIKE, 0.0)


def work(repeats, delta_of):
    rng = np.random.default_rng(64)
    results = []
    for _ in range(repeats):
        steps = rng.normal(scale=SIGMA / math.sqrt(252.0), size=DAYS)
        results.append(hedge((100.0 * np.exp(np.cumsum(steps))).tolist(), delta_of))
    return results


if __name__ == "__main__":
    harness.main(lambda n: work(n, delta), lambda n: work(n, delta_fixed), repeats=650)
