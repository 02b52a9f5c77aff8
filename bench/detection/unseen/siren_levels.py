# SPDX-License-Identifier: Apache-2.0
"""Sirens of a town: counts of a sound meter are smoothed over long windows, and alarms are kept apart from traffic."""

import numpy as np
from scipy import ndimage

import harness

# A mean over a window costs its length at each sample; differences of running sums do not: inefficient algorithm.
CATEGORY = "inefficient algorithm"
KIND = "load"
RATE = 50
SAMPLES = RATE * 240
SHORT, LONG = RATE // 2, RATE * 12


def traffic(rng):
    """Counts of the meter: cars that pass, and noise."""
    counts = rng.poisson(40, SAMPLES)
    for at in rng.integers(0, SAMPLES, 25):
        around = np.arange(max(0, at - 150), min(SAMPLES, at + 150))
        counts[around] += np.round(60 * np.exp(-0.5 * ((around - at) / 50) ** 2)).astype(int)
    return counts


def siren(counts, rng):
    """Adds an alarm that rises and falls, if there is one."""
    if rng.random() < 0.4:
        start = int(rng.integers(0, SAMPLES // 2))
        length = int(rng.integers(20, 60)) * RATE
        wave = 55 * np.clip(np.sin(2 * np.pi * np.arange(length) / (4 * RATE)) + 0.5, 0, None)
        counts[start:start + length] += np.round(wave).astype(int)[:SAMPLES - start]
        return True
    return False


def moving_sum(counts, window):
    return np.convolve(counts, np.ones(window, dtype=counts.dtype), mode="valid")  # waste: load


def moving_sum_fixed(counts, window):
    sums = np.cumsum(np.concatenate([np.zeros(1, dtype=counts.dtype), counts]))
    return sums[window:] - sums[:-window]


def contrast(counts, summing):
    """How much the last half second is over the last minute."""
    short, long = summing(counts, SHORT) / SHORT, summing(counts, LONG) / LONG
    return short[LONG - SHORT:] / long


def spells(loud):
    """Where it is loud for a second or more, after gaps of less than that are closed."""
    closed = ndimage.binary_closing(loud, np.ones(RATE))
    labels, count = ndimage.label(closed)
    if not count:
        return np.zeros((0, 2), dtype=int)
    bounds = np.array([(part[0].start, part[0].stop) for part in ndimage.find_objects(labels)])
    return bounds[bounds[:, 1] - bounds[:, 0] >= RATE]


def rhythm(counts, bounds):
    """The strongest period of a spell between two and eight seconds, in samples."""
    part = counts[bounds[0] + LONG:bounds[1] + LONG].astype(float)
    power = np.abs(np.fft.rfft(part - part.mean(), 1024)) ** 2
    first, last = 1024 // (8 * RATE), 1024 // (2 * RATE)
    at = first + int(power[first:last + 1].argmax())
    return 1024 / max(at, 1)


def listen(rng, summing):
    counts = traffic(rng)
    is_alarm = siren(counts, rng)
    over = contrast(counts, summing)
    found = spells(over > 1.35)
    periods = [rhythm(counts, bounds) for bounds in found]
    alike = sum(3 * RATE < period < 5.5 * RATE for period in periods)
    return [is_alarm, len(found), alike, round(float(over.max()), 7), round(float(over.min()), 7)]


def work(recordings, summing):
    rng = np.random.default_rng(7116)
    return [listen(rng, summing) for _ in range(recordings)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, moving_sum), lambda n: work(n, moving_sum_fixed), repeats=790)
