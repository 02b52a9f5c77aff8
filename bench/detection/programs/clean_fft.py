# SPDX-License-Identifier: Apache-2.0
"""Recordings with the echo of a hall: convolutions by fast Fourier transforms."""

import numpy as np
from scipy.signal import fftconvolve, welch

import harness

RATE = 22050


def work(repeats):
    rng = np.random.default_rng(102)
    hall = rng.normal(size=RATE) * np.exp(-np.arange(RATE) / 4000.0)
    powers = []
    for _ in range(repeats):
        sound = rng.normal(size=20 * RATE)
        echo = fftconvolve(sound, hall)
        _, power = welch(echo, RATE, nperseg=1024)
        powers.append(power[:50])
    return powers


if __name__ == "__main__":
    harness.main(work, repeats=140)
