# SPDX-License-Identifier: Apache-2.0
"""Strain gauges on a crane: the coefficients of the smoothing filter are solved for again for each trace."""

import functools

import numpy as np
from scipy.signal import savgol_coeffs

import harness

CATEGORY = "repeated native calls"
KIND = "store"
LENGTH, WINDOW, POWER = 300, 61, 4
STEP = 0.02  # seconds


def lift(rng):
    """Strain while a load is picked up, swings and is set down."""
    time = np.arange(LENGTH) * STEP
    begin, end = rng.uniform(0.5, 2.0), rng.uniform(4.0, 5.5)
    held = 1.0 / (1.0 + np.exp(-6.0 * (time - begin))) - 1.0 / (1.0 + np.exp(-6.0 * (time - end)))
    return held * (1.0 + 0.1 * np.sin(2.2 * time)) + rng.normal(scale=0.02, size=LENGTH)


def without_offset(trace):
    return trace - trace[:10].mean()


def derivative(trace, order):
    kernel = savgol_coeffs(WINDOW, POWER, deriv=order, delta=STEP)  # waste: store
    return np.convolve(trace, kernel, mode="valid")


def derivative_fixed(trace, order):
    return np.convolve(trace, kernel_of(order), mode="valid")


@functools.cache
def kernel_of(order):
    return savgol_coeffs(WINDOW, POWER, deriv=order, delta=STEP)


def jerks(trace, derive):
    speed, swing = derive(trace, 1), derive(trace, 2)
    return [speed.max(), speed.argmax(), speed.min(), speed.argmin(), swing.max(), swing.min()]


def work(repeats, derive):
    rng = np.random.default_rng(1938)
    return [jerks(without_offset(lift(rng)), derive) for _ in range(repeats)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, derivative), lambda n: work(n, derivative_fixed), repeats=25_000)
