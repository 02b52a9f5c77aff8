# SPDX-License-Identifier: Apache-2.0
"""How fast enzymes work: Hill's curve is fitted to the measurements of each of them, with its derivatives given."""

import numpy as np
from scipy.optimize import least_squares

import harness

POINTS = 4000


class Enzyme:
    """Measurements of one: concentrations and rates."""

    def __init__(self, rng):
        self.doses = np.sort(rng.uniform(0.05, 20.0, size=POINTS))
        self.logs = np.log(self.doses)
        truth = rng.uniform((5.0, 1.0, 0.8), (50.0, 8.0, 3.0))
        self.last = None
        self.rates = truth[0] * self.shares(truth)[0] + rng.normal(0.0, 0.3, size=POINTS)

    def shares(self, guess):
        """Of the greatest rate, and how far each dose is from half of it. The slopes are asked where a misfit was."""
        key = tuple(guess)
        if self.last is None or self.last[0] != key:
            _, half, exponent = key
            away = np.log(half) - self.logs
            self.last = key, 1.0 / (1.0 + np.exp(exponent * away)), away
        return self.last[1:]

    def misfit(self, guess):
        """The guess: the greatest rate, the dose for half of it, and Hill's exponent."""
        return guess[0] * self.shares(guess)[0] - self.rates

    def slopes(self, guess):
        greatest, half, exponent = guess
        share, away = self.shares(guess)
        steep = -greatest * share * (1.0 - share)
        return np.column_stack((share, steep * exponent / half, steep * away))


def fitted(enzyme):
    first = enzyme.rates.max(), 3.0, 1.0
    return least_squares(enzyme.misfit, first, enzyme.slopes, bounds=((0.0, 0.01, 0.1), (200.0, 50.0, 8.0)))


def work(repeats):
    rng = np.random.default_rng(510)
    found = []
    for _ in range(repeats):
        answer = fitted(Enzyme(rng))
        found.append([*answer.x, answer.cost])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=2000)
