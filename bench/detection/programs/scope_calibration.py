# SPDX-License-Identifier: Apache-2.0
"""A scope's readings are corrected by a table; np.interp gets one reading and two lists each time."""

import math
import random

import numpy as np

import harness

CATEGORY = "API misuse"
KIND = "load"


def calibration():
    """What the scope shows at known voltages: it saturates a little at both ends."""
    shown, true = [], []
    for step in range(-200, 201):
        volts = step / 20.0
        shown.append(10.5 * math.tanh(volts / 9.0))
        true.append(volts)
    return shown, true


def trace(random_source, samples):
    """A decaying pulse on a hum."""
    pulse = random_source.uniform(3.0, 8.0)
    start, hum = random_source.randrange(samples // 2), random_source.uniform(0.0, 6.28)
    values = []
    for number in range(samples):
        value = 0.4 * math.sin(hum + number / 9.0) + random_source.gauss(0.0, 0.05)
        if number >= start:
            value += pulse * math.exp((start - number) / 60.0)
        values.append(value)
    return values


def corrected(values, shown, true):
    return [float(np.interp(value, shown, true)) for value in values]  # waste: load


def corrected_fixed(values, shown, true):
    return np.interp(values, shown, true).tolist()


def pulse_figures(values):
    """Its height, its place, and how long it stays above half of that."""
    top = max(values)
    return [top, values.index(top), sum(value > top / 2.0 for value in values)]


def work(repeats, correct):
    random_source = random.Random(708)
    shown, true = calibration()
    return [pulse_figures(correct(trace(random_source, 600), shown, true)) for _ in range(repeats)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, corrected), lambda n: work(n, corrected_fixed), repeats=380)
