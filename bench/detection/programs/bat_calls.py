# SPDX-License-Identifier: Apache-2.0
"""Which bats flew by: the calls to compare with, and the spectra of both, are made anew for each pair."""

import numpy as np

import harness

CATEGORY = "loop-invariant computation"
KIND = "store"
RATE, LENGTH = 256_000, 4_096
# Highest and lowest frequency, length in milliseconds.
SPECIES = {
    "pipistrelle": (70_000, 45_000, 5.0),
    "noctule": (28_000, 19_000, 12.0),
    "serotine": (52_000, 25_000, 8.0),
    "horseshoe": (83_000, 81_000, 15.0),
    "long-eared": (50_000, 22_000, 2.5),
    "pond bat": (60_000, 30_000, 6.0),
    "barbastelle": (38_000, 28_000, 3.0),
    "whiskered": (95_000, 32_000, 4.0),
}


def call(high, low, milliseconds):
    """A falling chirp, soft at both ends."""
    time = np.arange(int(RATE * milliseconds / 1_000)) / RATE
    fall = np.log(low / high) * 1_000 / milliseconds
    chirp = np.sin(2 * np.pi * high * np.expm1(fall * time) / fall)
    chirp *= np.hanning(len(time))
    return chirp / np.linalg.norm(chirp)


def recording(rng):
    sound = rng.normal(scale=0.05, size=LENGTH)
    for _ in range(rng.integers(0, 4)):
        chirp = call(*list(SPECIES.values())[rng.integers(len(SPECIES))])
        start = rng.integers(0, LENGTH - len(chirp)) if len(chirp) < LENGTH else 0
        sound[start : start + len(chirp)] += rng.uniform(0.5, 3.0) * chirp
    return sound


def likeness(sound, species):
    """The highest correlation with this species' call, wherever it begins."""
    template = np.fft.rfft(call(*SPECIES[species]), 2 * LENGTH)  # waste: store
    spectrum = np.fft.rfft(sound, 2 * LENGTH)  # waste: store
    return np.abs(np.fft.irfft(spectrum * template.conj())).max()


def scores(sound):
    return [likeness(sound, species) for species in SPECIES]  # waste: store


class Scores:
    """As scores(), with the spectra of the calls made once."""

    def __init__(self):
        self.templates = [np.fft.rfft(call(*shape), 2 * LENGTH).conj() for shape in SPECIES.values()]

    def __call__(self, sound):
        spectrum = np.fft.rfft(sound, 2 * LENGTH)
        return [np.abs(np.fft.irfft(spectrum * template)).max() for template in self.templates]


def work(repeats, score):
    rng = np.random.default_rng(1938)
    return [score(recording(rng)) for _ in range(repeats)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, scores), lambda n: work(n, Scores()), repeats=5_000)
