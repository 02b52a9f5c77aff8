# SPDX-License-Identifier: Apache-2.0
"""Band powers of tremors from wrist sensors; the Butterworth filters are designed for each piece of each sensor."""

import numpy as np
from scipy import signal

import harness

CATEGORY = "repeated native calls"
KIND = "store"
RATE = 100.0
BANDS = ((0.5, 3.0), (3.0, 7.0), (7.0, 12.0))
SAMPLES = 500
DESIGNS = {}


def piece(rng):
    """Five seconds of one axis."""
    time = np.arange(SAMPLES) / RATE
    tremor = rng.gamma(1.0) * np.sin(2 * np.pi * rng.uniform(4.0, 9.0) * time + rng.uniform(0, 6))
    walking = np.sin(2 * np.pi * rng.uniform(1.0, 2.0) * time)
    return tremor + walking + rng.normal(scale=0.4, size=SAMPLES)


def design(low, high):
    return signal.butter(4, [low, high], btype="bandpass", fs=RATE, output="sos")  # waste: store


def design_fixed(low, high):
    if (low, high) not in DESIGNS:
        DESIGNS[low, high] = signal.butter(4, [low, high], btype="bandpass", fs=RATE, output="sos")
    return DESIGNS[low, high]


def powers(values, choose):
    found = []
    for low, high in BANDS:
        part = signal.sosfilt(choose(low, high), values)
        found.append(part[100:] @ part[100:] / (len(part) - 100))
    return found


def work(repeats, choose):
    rng = np.random.default_rng(1817)
    patients = np.zeros((10, len(BANDS)))
    for k in range(repeats):
        patients[k % 10] += powers(piece(rng), choose)
    share = patients[:, 1] / patients.sum(axis=1)
    return [*patients.sum(axis=0), share.min(), share.max()]


if __name__ == "__main__":
    harness.main(lambda n: work(n, design), lambda n: work(n, design_fixed), repeats=1_800)
