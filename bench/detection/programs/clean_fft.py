# SPDX-License-Identifier: Apache-2.0
"""Recordings, each with the echo of its own hall: convolutions by fast Fourier transforms."""

import numpy as np
from scipy.signal import fftconvolve, welch

import harness

RATE = 22050


def work(repeats):
    rng = np.random.default_rng(102)
    decay = np.exp(-np.arange(RATE) / 4000.0)
    powers = []
    for _ in range(repeats):
        hall = rng.normal(size=RATE) * decay
        sound = rng.normal(size=20 * RATE)
        echo = fftconvolve(sound, hall)
        _, power = welch(echo, RATE, nperseg=1024)
        powers.append(power[:50])
    return powers


if __name__ == "__main__":
    harness.main(work, repeats=140)
