# SPDX-License-Identifier: Apache-2.0
"""Values of interest rate swaps: the curve through a day's quotes is laid anew for each payment."""

import numpy as np
from scipy.interpolate import PchipInterpolator

import harness

CATEGORY = "repeated native calls"
KIND = "store"
TENORS = np.array([0.08, 0.25, 0.5, 1, 2, 3, 5, 7, 10, 15, 20, 30])
START = {"EUR": 0.021, "USD": 0.038, "CHF": 0.009, "SEK": 0.024}


class Market:
    """The quotes of one day."""

    def __init__(self, rng, day):
        shift = 0.004 * np.sin(day / 9.0)
        slope = rng.normal(scale=1e-3, size=(len(START), len(TENORS))).cumsum(axis=1)
        self.quotes = {name: rate + shift + slope[k] for k, (name, rate) in enumerate(START.items())}
        self.curves = {}

    def rate(self, currency, years):
        return float(PchipInterpolator(TENORS, self.quotes[currency])(years))  # waste: store

    def rate_fixed(self, currency, years):
        if currency not in self.curves:
            self.curves[currency] = PchipInterpolator(TENORS, self.quotes[currency])
        return float(self.curves[currency](years))


def swaps(rng, count):
    """Currency, notional, fixed rate, and the years until each payment."""
    for _ in range(count):
        first, last = rng.uniform(0.1, 1.0), rng.integers(2, 25)
        currency = str(rng.choice(list(START)))
        yield currency, 1e6 * rng.integers(1, 50), START[currency], first + np.arange(last)


def value(swap, market, rate):
    """What the fixed side is worth less what the floating side is worth."""
    currency, notional, fixed, times = swap
    factors = [(1.0 + rate(market, currency, years)) ** -years for years in times.tolist()]
    return notional * (fixed * sum(factors) - (1.0 - factors[-1]))


def work(repeats, rate):
    rng = np.random.default_rng(1981)
    book = list(swaps(rng, 40))
    found = []
    for day in range(repeats):
        market = Market(rng, day)
        values = [value(swap, market, rate) for swap in book]
        found.append([sum(values), min(values), max(values)])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, Market.rate), lambda n: work(n, Market.rate_fixed), repeats=36)
