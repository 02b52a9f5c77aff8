# SPDX-License-Identifier: Apache-2.0
"""Scales under beehives: a curve of the day is fitted to each hive, and what is left over shows swarms and robbery."""

import numpy as np
from scipy import signal

import harness

# polyfit takes all hives as columns of one problem; a call for each solves the same matrix again: API misuse.
CATEGORY = "API misuse"
KIND = "load"
HIVES, SAMPLES = 160, 96
DEGREE = 5
TIMES = np.linspace(-1, 1, SAMPLES)
POWERS = np.vander(TIMES, DEGREE + 1)


class Apiary:
    """Weights of hives through the seasons."""

    def __init__(self, rng):
        self.empty = rng.uniform(22, 34, HIVES)
        self.strength = rng.gamma(4, 0.25, HIVES)
        self.is_weak = self.strength < 0.5

    def day(self, rng, number):
        """Foragers leave in the morning and come back; nectar dries at night."""
        season = max(0.0, np.sin(np.pi * (number % 180) / 180))
        away = -0.5 * self.strength[:, None] * np.clip(1 - TIMES ** 2 * 2, 0, None) * season
        nectar = 2.0 * season * self.strength[:, None] / (1 + np.exp(-6 * TIMES))
        curves = self.empty[:, None] + away + nectar + rng.normal(0, 0.03, (HIVES, SAMPLES))
        swarm = np.flatnonzero(rng.random(HIVES) < 0.02)
        at = rng.integers(20, 70, len(swarm))
        for hive, sample in zip(swarm.tolist(), at.tolist()):
            curves[hive, sample:] -= 1.8
        self.empty += 0.02 * season * self.strength - 0.01
        return curves


def fits(curves):
    return np.array([np.polyfit(TIMES, curve, DEGREE) for curve in curves])  # waste: load


def fits_fixed(curves):
    return np.polyfit(TIMES, curves.T, DEGREE).T


def values(coefficients):
    """The fitted curves."""
    return coefficients @ POWERS.T


def jumps(rest):
    """The steepest fall within an hour, by hive, and when it was."""
    falls = rest[:, :-4] - rest[:, 4:]
    return falls.max(axis=1), falls.argmax(axis=1)


def smooth(curves):
    """A median of five and a low pass, for the page of the club."""
    middle = np.median(np.lib.stride_tricks.sliding_window_view(curves, 5, axis=1), axis=2)
    return signal.savgol_filter(middle, 9, 2, axis=1)


def gain(fitted):
    """What a hive has gained by the evening."""
    return fitted[:, -1] - fitted[:, 0]


def turning(fitted):
    """How many hives have their lowest weight within the day."""
    lowest = fitted.argmin(axis=1)
    return int(np.count_nonzero((lowest > 4) & (lowest < SAMPLES - 5)))


def report(apiary, curves, fitting):
    fitted = values(fitting(curves))
    rest = curves - fitted
    falls, when = jumps(rest)
    gained = gain(fitted)
    swarms = np.flatnonzero(falls > 0.9)
    lines = smooth(curves)
    return [len(swarms), int(when[swarms].sum()), turning(fitted), round(float(gained.mean()), 6),
            round(float(gained[apiary.is_weak].sum()), 6), round(float(rest.std()), 6),
            round(float(np.ptp(lines, axis=1).mean()), 6)]


def work(days, fitting):
    rng = np.random.default_rng(7203)
    apiary = Apiary(rng)
    return [report(apiary, apiary.day(rng, number), fitting) for number in range(days)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, fits), lambda n: work(n, fits_fixed), repeats=510)
