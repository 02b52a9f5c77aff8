# SPDX-License-Identifier: Apache-2.0
"""The most valuable cargo of small planes: the knapsack of all loads, one row that each crate updates."""

import numpy as np

import harness

LIMIT = 2_500  # kilograms


def crates(rng, count):
    """Weights in kilograms and values; heavier crates are worth more, by and large."""
    weights = rng.integers(15, 400, size=count)
    values = (weights * rng.lognormal(0.0, 0.4, size=count)).round(2)
    return weights.tolist(), values.tolist()


def most_valuable(weights, values):
    """The value of the best load, and which crates belong to it."""
    best = np.zeros(LIMIT + 1)
    taken = np.zeros((len(weights), LIMIT + 1), dtype=bool)
    for k, (weight, value) in enumerate(zip(weights, values)):
        added = best[:-weight] + value
        rest = best[weight:]
        np.greater(added, rest, out=taken[k, weight:])
        np.maximum(added, rest, out=rest)
    load, chosen = LIMIT, []
    for k in range(len(weights) - 1, -1, -1):
        if taken[k, load]:
            chosen.append(k)
            load -= weights[k]
    return best[-1], chosen


def work(repeats):
    rng = np.random.default_rng(1957)
    found = []
    for _ in range(repeats):
        weights, values = crates(rng, 80)
        value, chosen = most_valuable(weights, values)
        found.append([value, len(chosen), sum(weights[k] for k in chosen)])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=9_000)
