# SPDX-License-Identifier: Apache-2.0
"""Cepstral coefficients of speech, with the mel filter bank made again for every frame."""

import functools

import numpy as np
from scipy.fft import dct

import harness

CATEGORY = "repeated native calls"
KIND = "store"
RATE, FRAME, HOP, BANDS = 16000, 512, 160, 40
WINDOW = np.hanning(FRAME)


def mel_filters(bands, frame, rate):
    """Triangles that overlap, evenly spaced in mel."""
    top = 2595.0 * np.log10(1.0 + rate / 1400.0)
    edges = 700.0 * (10.0 ** (np.linspace(0.0, top, bands + 2) / 2595.0) - 1.0)  # waste: store
    slopes = edges[:, None] - np.fft.rfftfreq(frame, 1.0 / rate)  # waste: store
    rising = -slopes[:-2] / np.diff(edges)[:-1, None]  # waste: store
    falling = slopes[2:] / np.diff(edges)[1:, None]  # waste: store
    return np.maximum(0.0, np.minimum(rising, falling))  # waste: store


def mfcc(frame, filters_of):
    power = np.abs(np.fft.rfft(frame * WINDOW)) ** 2
    filters = filters_of(BANDS, FRAME, RATE)
    return dct(np.log(filters @ power + 1e-10), norm="ortho")[:13]


def work(repeats, filters_of):
    rng = np.random.default_rng(19)
    total = np.zeros(13)
    for _ in range(repeats):
        speech = np.cumsum(rng.normal(size=RATE)) * 0.01
        for start in range(0, len(speech) - FRAME, HOP):
            total += mfcc(speech[start : start + FRAME], filters_of)
    return total


if __name__ == "__main__":
    cached = functools.lru_cache(maxsize=4)(mel_filters)
    harness.main(lambda n: work(n, mel_filters), lambda n: work(n, cached), repeats=920)
