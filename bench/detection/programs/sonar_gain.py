# SPDX-License-Identifier: Apache-2.0
"""Echo sounder of a survey boat: each ping is amplified sample after sample before the bottom is picked."""

import numpy as np
from scipy import signal

import harness

# The gain is a curve over all samples of the ping, which one multiplication applies: slice underutilization.
CATEGORY = "slice underutilization"
KIND = "store"
SAMPLES = 1500
SPEED, RATE = 1480.0, 12000.0
ABSORPTION = 0.04
DEPTHS = np.arange(SAMPLES) * SPEED / (2 * RATE) + 0.3
SPREADING = 20 * np.log10(DEPTHS) + 2 * ABSORPTION * DEPTHS
GAIN = 10 ** (SPREADING / 20)
CHIRP = signal.chirp(np.arange(64) / RATE, 1500, 64 / RATE, 4500) * signal.windows.hann(64)
HIGH_PASS = signal.butter(2, 0.05, "high", output="sos")


def ping(rng, depth):
    """What the transducer hears: the bottom, a few fish and noise."""
    raw = rng.normal(0, 0.003, SAMPLES)
    places = [(depth, 1.0)] + [(float(rng.uniform(5, depth)), 0.1) for _ in range(int(rng.integers(0, 4)))]
    for metres, strength in places:
        at = int(metres * 2 * RATE / SPEED)
        end = min(SAMPLES, at + len(CHIRP))
        raw[at:end] += CHIRP[:end - at] * strength / GAIN[at] ** 0.8
    return raw


def amplify(raw):
    loud = np.empty(SAMPLES)
    for at in range(SAMPLES):
        loud[at] = raw[at] * GAIN[at]  # waste: store
    return loud


def amplify_fixed(raw):
    return raw * GAIN


def envelope(loud):
    filtered = signal.sosfilt(HIGH_PASS, loud)
    matched = signal.fftconvolve(filtered, CHIRP[::-1], mode="full")[len(CHIRP) - 1:][:SAMPLES]
    return np.abs(signal.hilbert(matched))


class Track:
    """Bottom along the track, with a window about the last depth."""

    def __init__(self, start):
        self.last = start
        self.depths = []
        self.fish = 0

    def add(self, echo):
        near = np.abs(DEPTHS - self.last) < 9.0
        best = int(np.argmax(np.where(near, echo, 0.0)))
        self.last = 0.7 * self.last + 0.3 * float(DEPTHS[best])
        self.depths.append(round(float(DEPTHS[best]), 3))
        above = echo[:max(1, best - 80)]
        peaks, _ = signal.find_peaks(above, height=0.25 * float(echo[best]), distance=40)
        self.fish += len(peaks)

    def roughness(self):
        return float(np.std(np.diff(self.depths))) if len(self.depths) > 1 else 0.0


def survey(rng, pings, amplifying):
    depth = float(rng.uniform(25, 70))
    track = Track(depth)
    for _ in range(pings):
        depth = min(80.0, max(15.0, depth + float(rng.normal(0, 0.4))))
        track.add(envelope(amplifying(ping(rng, depth))))
    return [np.mean(track.depths), np.max(track.depths), track.fish, round(track.roughness(), 6)]


def work(lines, amplifying):
    rng = np.random.default_rng(612)
    return [survey(rng, 60, amplifying) for _ in range(lines)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, amplify), lambda n: work(n, amplify_fixed), repeats=160)
