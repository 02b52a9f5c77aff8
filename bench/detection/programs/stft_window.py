# SPDX-License-Identifier: Apache-2.0
"""Spectra of the frames of a recording; each frame asks SciPy for its window again."""

import functools

import numpy as np
from scipy.signal import get_window

import harness

CATEGORY = "repeated native calls"
KIND = "store"
FRAME, HOP, RATE = 2048, 512, 22050


def recording(rng, seconds):
    times = np.arange(int(RATE * seconds)) / RATE
    tone = np.sin(2.0 * np.pi * (220.0 + 40.0 * np.sin(times)) * times)
    return tone + 0.1 * rng.normal(size=len(times))


def spectrum(frame):
    window = get_window("blackmanharris", len(frame))  # waste: store
    return np.abs(np.fft.rfft(frame * window)) ** 2


@functools.lru_cache
def window_of(length):
    return get_window("blackmanharris", length)


def spectrum_fixed(frame):
    return np.abs(np.fft.rfft(frame * window_of(len(frame)))) ** 2


def centroid(power):
    return power @ np.arange(len(power)) / power.sum()


def work(repeats, of_frame):
    rng = np.random.default_rng(16)
    centroids = []
    for _ in range(repeats):
        sound = recording(rng, 5.0)
        for start in range(0, len(sound) - FRAME, HOP):
            centroids.append(centroid(of_frame(sound[start : start + FRAME])))
    return centroids


if __name__ == "__main__":
    harness.main(lambda n: work(n, spectrum), lambda n: work(n, spectrum_fixed), repeats=370)
