# SPDX-License-Identifier: Apache-2.0
"""Heart rates from twelve leads of electrocardiograms; the band pass is designed again for each lead."""

import numpy as np
from scipy import signal

import harness

CATEGORY = "repeated native calls"
KIND = "store"
RATE, SECONDS, LEADS = 250, 6, 12
TIME = np.arange(RATE * SECONDS) / RATE
MAINS = 0.3 * np.sin(2.0 * np.pi * 50.0 * TIME)


def recording(rng):
    """Beats as narrow bells, a wandering baseline and the mains; each lead sees them differently."""
    gap = rng.uniform(0.6, 1.1)
    beats = np.cumsum(rng.normal(gap, 0.03, size=int(SECONDS / gap)))
    heart = np.exp(-np.square((TIME[:, None] - beats) / 0.02)).sum(axis=1)
    drift = np.sin(2.0 * np.pi * 0.2 * TIME + rng.uniform(0.0, 6.28))
    hiss = rng.normal(scale=0.05, size=(LEADS, len(TIME)))
    return rng.uniform(0.6, 1.4, size=(LEADS, 1)) * heart + drift + MAINS + hiss


def band_pass():
    return signal.firwin(1201, [5.0, 30.0], window=("kaiser", 7.0), pass_zero=False, fs=RATE)


def filtered(lead):
    taps = band_pass()  # waste: store
    return signal.fftconvolve(lead, taps, mode="same")


TAPS = band_pass()


def filtered_fixed(lead):
    return signal.fftconvolve(lead, TAPS, mode="same")


def rate(lead):
    """Beats a minute, and how regular they are."""
    peaks, _ = signal.find_peaks(lead, height=0.4 * lead.max(), distance=RATE // 3)
    gaps = np.diff(peaks) / RATE
    return [60.0 / gaps.mean(), gaps.std()] if gaps.size else [0.0, 0.0]


def work(repeats, clean):
    rng = np.random.default_rng(710)
    found = []
    for _ in range(repeats):
        found.append(np.median([rate(clean(lead)) for lead in recording(rng)], axis=0))
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, filtered), lambda n: work(n, filtered_fixed), repeats=900)
