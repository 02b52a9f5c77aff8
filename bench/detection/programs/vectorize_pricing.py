# SPDX-License-Identifier: Apache-2.0
"""Prices of options by Black and Scholes: a formula that takes arrays, called through np.vectorize all the same."""

import numpy as np
from scipy.special import ndtr

import harness

CATEGORY = "API misuse"
KIND = "load"


def call_price(spot, strike, sigma, years):
    spread = sigma * np.sqrt(years)  # waste: load
    d1 = (np.log(spot / strike) + (0.02 + 0.5 * sigma * sigma) * years) / spread  # waste: load
    d2 = d1 - spread  # waste: load
    return spot * ndtr(d1) - strike * np.exp(-0.02 * years) * ndtr(d2)  # waste: load


def slow_price(spots, strikes, sigmas, years):
    return np.vectorize(call_price)(spots, strikes, sigmas, years)  # waste: load


def value_at_risk(rng, price, scenarios):
    """What a portfolio of options may lose, by simulation."""
    strikes = rng.uniform(80.0, 120.0, size=50)
    years = rng.uniform(0.1, 2.0, size=50)
    before = price(100.0, strikes, 0.2, years).sum()
    spots = 100.0 * np.exp(rng.normal(scale=0.02, size=(scenarios, 1)))
    sigmas = 0.2 * np.exp(rng.normal(scale=0.05, size=(scenarios, 1)))
    after = price(spots, strikes, sigmas, years).sum(axis=1)
    return np.percentile(before - after, [95, 99])


def work(repeats, price):
    rng = np.random.default_rng(10)
    return [value_at_risk(rng, price, 200) for _ in range(repeats)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, slow_price), lambda n: work(n, call_price), repeats=380)
