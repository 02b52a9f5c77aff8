# SPDX-License-Identifier: Apache-2.0
"""Starters of sourdough: a probe's values are compared with all that came before, so that a change is noticed."""

import numpy as np

import harness

# Mean and spread of all values so far follow from running sums; here each prefix is summed: inefficient algorithm.
CATEGORY = "inefficient algorithm"
KIND = "load"
SAMPLES = 1600
FEEDS = 8
WARM_UP = 32
EVERY = 8


class Starter:
    """A culture that rises after it is fed and falls when the flour is used up."""

    def __init__(self, rng):
        self.rate = float(rng.uniform(0.6, 1.4))
        self.acid = float(rng.uniform(0.2, 0.5))
        self.is_sick = bool(rng.random() < 0.3)

    def heights(self, rng):
        """Millimetres in tenths, as whole numbers."""
        hours = np.arange(SAMPLES) * (FEEDS * 12 / SAMPLES)
        since = hours % 12
        rise = 60 * since ** 2 * np.exp(-self.rate * since)
        drift = -25 * self.acid * hours / hours[-1]
        if self.is_sick:
            rise *= np.where(hours > hours[-1] * 0.6, 0.4, 1.0)
        return np.round(10 * (40 + rise + drift + rng.normal(0, 1.5, SAMPLES))).astype(np.int64)


def scores(heights):
    """How many deviations a value is from the mean of those before it, for each eighth value."""
    found = []
    for at in range(WARM_UP, len(heights), EVERY):
        before = heights[:at]
        found.append((heights[at] - before.mean()) / before.std())  # waste: load
    return np.array(found)


def scores_fixed(heights):
    counts = np.arange(1, len(heights))
    sums, squares = np.cumsum(heights[:-1]), np.cumsum(heights[:-1] ** 2)
    means = sums / counts
    spreads = np.sqrt(np.maximum(counts * squares - sums * sums, 0)) / counts
    return (heights[WARM_UP::EVERY] - means[WARM_UP - 1::EVERY]) / spreads[WARM_UP - 1::EVERY]


def peaks(heights):
    """The top of each feeding: when and how high, smoothed a little."""
    feeds = heights.reshape(FEEDS, -1).astype(float)
    smooth = np.apply_along_axis(np.convolve, 1, feeds, np.full(9, 1 / 9), "same")[:, 8:-8]
    return smooth.argmax(axis=1) + 8, smooth.max(axis=1)


def alarms(found):
    """Runs of three values on the same side, far from the mean."""
    high, low, raised = 0, 0, []
    for at, score in enumerate(found.tolist()):
        high = high + 1 if score > 1.6 else 0
        low = low + 1 if score < -0.9 else 0
        if high == 3 or low == 3:
            raised.append(at)
    return raised


def cusum(found, slack=0.5):
    """The largest sum of what is above the slack, one-sided."""
    total = worst = 0.0
    for score in found.tolist():
        total = max(0.0, total + score - slack)
        worst = max(worst, total)
    return worst


def outliers(heights, reach=7):
    """Values that are far from the median of those around them."""
    middle = np.median(np.lib.stride_tricks.sliding_window_view(heights, 2 * reach + 1), axis=1)
    off = np.abs(heights[reach:-reach] - middle)
    return int(np.count_nonzero(off > 4 * np.median(off)))


def shape(heights):
    """Singular values of the feedings: the first is how alike they are."""
    feeds = heights.reshape(FEEDS, -1) - heights.mean()
    values = np.linalg.svd(feeds, compute_uv=False)
    return values[:2] / values.sum()


def report(starter, rng, scoring):
    heights = starter.heights(rng)
    found = scoring(heights)
    when, tops = peaks(heights)
    raised = alarms(found)
    return [len(raised), sum(raised), outliers(heights), int(when.sum()), round(float(tops.mean()), 5),
            round(cusum(found), 5), round(float(found.max()), 6), *np.round(shape(heights), 7)]


def work(starters, scoring):
    rng = np.random.default_rng(7212)
    return [report(Starter(rng), rng, scoring) for _ in range(starters)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, scores), lambda n: work(n, scores_fixed), repeats=1250)
