# SPDX-License-Identifier: Apache-2.0
"""Hydrophones along a coast: clips are filtered by the band of their recorder, and clicks are kept apart from ships."""

import numpy as np
from scipy import signal

import harness

# Three models of recorder need three filters, but one is designed for each clip: repeated native calls.
CATEGORY = "repeated native calls"
KIND = "store"
MODELS = {"coast": (48_000, 3000, 15_000), "deep": (32_000, 2000, 9000), "buoy": (24_000, 1500, 8000)}
LENGTH = 1536
BURST = 4 * np.sin(2 * np.pi * 0.2 * np.arange(60)) * np.hanning(60)
MEAN = np.full(48, 1 / 48)
FILTERS = {}


class Clip:
    """A twentieth of a second or so: clicks of porpoises, or the hum of a ship."""

    def __init__(self, rng, number):
        self.model = list(MODELS)[int(rng.integers(3))]
        self.number = number
        rate = MODELS[self.model][0]
        time = np.arange(LENGTH) / rate
        self.samples = rng.normal(0, 0.3, LENGTH)
        self.clicks = int(rng.integers(0, 5))
        for at in rng.integers(0, LENGTH - 100, self.clicks).tolist():
            self.samples[at:at + 60] += BURST
        if rng.random() < 0.5:
            self.samples += 2 * np.sin(2 * np.pi * rng.uniform(80, 300) * time)


def band_pass(model):
    rate, low, high = MODELS[model]
    return signal.ellip(6, 0.5, 50, (low, high), "bandpass", fs=rate, output="sos")  # waste: store


def band_pass_fixed(model):
    if model not in FILTERS:
        FILTERS[model] = band_pass(model)
    return FILTERS[model]


def envelope(samples):
    """Energy over a millisecond and a half."""
    return np.convolve(samples * samples, MEAN, mode="same")


def clicks(energy):
    """Peaks that are well over the median, half a click apart."""
    floor = np.median(energy)
    found, _ = signal.find_peaks(energy, height=8 * floor, distance=30)
    return found, floor


def hum(clip):
    """Part of the power that is below a kilohertz."""
    power = np.abs(np.fft.rfft(clip.samples)) ** 2
    edge = int(1000 / MODELS[clip.model][0] * LENGTH)
    return float(power[:edge].sum() / power.sum())


def direction(samples, other):
    """Delay of the second hydrophone, from the phase of the cross spectrum."""
    cross = np.fft.rfft(samples) * np.conj(np.fft.rfft(other))
    whitened = cross / (np.abs(cross) + 1e-9)
    return int(np.fft.irfft(whitened, LENGTH).argmax())


def report(clip, rng, designing):
    filtered = signal.sosfilt(designing(clip.model), clip.samples)
    found, floor = clicks(envelope(filtered))
    delay = int(rng.integers(0, 40))
    late = np.roll(filtered, delay) + rng.normal(0, 0.05, LENGTH)
    seen = direction(late, filtered)
    between = int(np.diff(found).min()) if len(found) > 1 else 0
    return [clip.clicks, len(found), between, abs(seen - delay) < 2, round(float(floor), 7), round(hum(clip), 7)]


def work(clips, designing):
    rng = np.random.default_rng(7206)
    return [report(Clip(rng, number), rng, designing) for number in range(clips)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, band_pass), lambda n: work(n, band_pass_fixed), repeats=4400)
