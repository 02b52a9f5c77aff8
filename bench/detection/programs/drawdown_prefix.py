# SPDX-License-Identifier: Apache-2.0
"""The drawdown of a fund on each day, for which its whole course up to that day is computed again."""

import numpy as np

import harness

CATEGORY = "inefficient algorithm"
KIND = "store"


def drawdowns(returns):
    found = np.empty(len(returns))
    for day in range(len(returns)):
        course = np.cumprod(1.0 + returns[: day + 1])  # waste: store
        found[day] = 1.0 - course[-1] / course.max()  # waste: store
    return found


def drawdowns_fixed(returns):
    course = np.cumprod(1.0 + returns)
    return 1.0 - course / np.maximum.accumulate(course)


def work(repeats, measure):
    rng = np.random.default_rng(28)
    worst = []
    for _ in range(repeats):
        returns = rng.normal(loc=0.0003, scale=0.01, size=5000)
        worst.append(measure(returns).max())
    return worst


if __name__ == "__main__":
    harness.main(lambda n: work(n, drawdowns), lambda n: work(n, drawdowns_fixed), repeats=100)
