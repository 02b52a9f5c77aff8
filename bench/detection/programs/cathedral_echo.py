# SPDX-License-Identifier: Apache-2.0
"""An organ in many halls: dry recordings get the echo of each hall by a sum over all pairs of samples."""

import numpy as np
from scipy import signal

import harness

# The echo is long; by way of Fourier transforms, the effort grows with n log n: an inefficient algorithm.
CATEGORY = "inefficient algorithm"
KIND = "load"
RATE = 8000


def recording(rng, seconds):
    """A few notes with their harmonics."""
    time = np.arange(int(RATE * seconds)) / RATE
    sound = np.zeros(time.size)
    for start in np.sort(rng.uniform(0, seconds - 0.3, 6)):
        pitch = 110.0 * 2.0 ** (rng.integers(0, 30) / 12.0)
        local = time - start
        envelope = np.where(local > 0, np.exp(-3.0 * np.clip(local, 0, None)), 0.0)
        for harmonic in range(1, 6):
            sound += envelope * np.sin(2 * np.pi * pitch * harmonic * local) / harmonic
    return sound / np.abs(sound).max()


class Hall:
    def __init__(self, rng):
        self.decay_s = rng.uniform(0.5, 1.2)
        length = int(RATE * self.decay_s)
        tail = rng.normal(size=length) * np.exp(-6.9 * np.arange(length) / length)
        early = np.zeros(length)
        early[rng.integers(20, 900, size=8)] = rng.uniform(0.3, 0.8, 8)
        self.answer = 0.15 * tail / np.sqrt(np.square(tail).sum()) + early / 6.0
        self.answer[0] = 1.0

    def fill(self, sound):
        return np.convolve(sound, self.answer)  # waste: load

    def fill_fixed(self, sound):
        return signal.fftconvolve(sound, self.answer)


def clarity(sound):
    """Energy by blocks of 50 ms: how much of it comes early."""
    block = RATE // 20
    energy = np.square(sound[:sound.size // block * block]).reshape(-1, block).sum(axis=1)
    total = energy.cumsum()
    return float(np.searchsorted(total, 0.5 * total[-1])), energy


def level(sound):
    """Peak and loudness, after a soft limiter."""
    limited = np.tanh(1.5 * sound)
    return float(np.abs(limited).max()), float(10.0 * np.log10(np.square(limited).mean()))


def work(concerts, filling):
    rng, found = np.random.default_rng(90), []
    for _ in range(concerts):
        dry = recording(rng, 2.0)
        for _ in range(3):
            wet = filling(Hall(rng), dry)
            half, energy = clarity(wet)
            found.append([*level(wet), half, energy.max(), wet.size / RATE])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, Hall.fill), lambda n: work(n, Hall.fill_fixed), repeats=160)
