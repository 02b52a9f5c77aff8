# SPDX-License-Identifier: Apache-2.0
"""Commodity exchange: ticks become bars of open, high, low and close; each price is looked at on its own."""

import numpy as np

import harness

# A bar is a slice, of which the extremes are one call each: slice underutilization.
CATEGORY = "slice underutilization"
KIND = "load"
SESSION = 6 * 3600
BAR = 300


class Session:
    """Times and prices of a day's trades."""

    def __init__(self, rng):
        count = int(rng.integers(14_000, 20_000))
        self.times = np.sort(rng.uniform(0, SESSION, count))
        busy = 1 + 0.8 * np.abs(self.times / SESSION - 0.5)
        steps = rng.standard_t(4, count) * 0.02 * busy
        self.prices = np.round(80 + np.cumsum(steps), 2)
        self.lots = rng.integers(1, 40, count)

    def bounds(self):
        """Where each bar begins and ends in the arrays."""
        edges = np.searchsorted(self.times, np.arange(0, SESSION + 1, BAR))
        return [(int(first), int(after)) for first, after in zip(edges[:-1], edges[1:]) if after > first]


def bar(prices, first, after):
    high = low = prices[first]
    for at in range(first + 1, after):
        price = prices[at]  # waste: load
        if price > high:
            high = price
        elif price < low:
            low = price
    return prices[first], high, low, prices[after - 1]


def bar_fixed(prices, first, after):
    part = prices[first:after]
    return part[0], part.max(), part.min(), part[-1]


def average_true_range(bars, span=14):
    """Wilder's mean of how far a bar reaches, counted from the close before it."""
    high, low, close = bars[1:, 1], bars[1:, 2], bars[:-1, 3]
    reach = np.maximum(high, close) - np.minimum(low, close)
    mean = float(reach[:span].mean())
    for value in reach[span:].tolist():
        mean += (value - mean) / span
    return mean


def breakouts(bars, back=12):
    """Positions of a channel rule: long above the highest of the last bars, short below the lowest."""
    position, profit, entry = 0, 0.0, 0.0
    windows = np.lib.stride_tricks.sliding_window_view(bars[:, 1:3], back, axis=0)
    tops, bottoms = windows[:, 0].max(axis=1), windows[:, 1].min(axis=1)
    for top, bottom, close in zip(tops.tolist(), bottoms.tolist(), bars[back:, 3].tolist()):
        wanted = 1 if close > top else -1 if close < bottom else position
        if wanted != position:
            profit += position * (close - entry)
            position, entry = wanted, close
    return profit + position * (float(bars[-1, 3]) - entry)


def profile(session):
    """The price at which most lots changed hands."""
    cents = np.round(session.prices * 10).astype(int)
    lots = np.bincount(cents - cents.min(), session.lots)
    return float(lots.argmax() + cents.min()) / 10


def work(days, making):
    rng, rows = np.random.default_rng(635), []
    for _ in range(days):
        session = Session(rng)
        bars = np.array([making(session.prices, *bounds) for bounds in session.bounds()])
        rows.append([*bars[-1], bars[:, 1].max(), round(average_true_range(bars), 6), round(breakouts(bars), 4),
                     profile(session)])
    return rows


if __name__ == "__main__":
    harness.main(lambda n: work(n, bar), lambda n: work(n, bar_fixed), repeats=1200)
