# SPDX-License-Identifier: Apache-2.0
"""Shocks in gearboxes: each 16-bit sample of a recording becomes a number by a slice and a call of its own."""

import numpy as np

import harness

CATEGORY = "slice underutilization"
KIND = "load"
CHANNELS, SAMPLES = 3, 12_000
FRAME = 2 * CHANNELS  # bytes


def recording(rng):
    """Big-endian samples of all channels in turn, as the recorder writes them."""
    time = np.arange(SAMPLES)[:, None] / 8_000.0
    waves = 4_000.0 * np.sin(2.0 * np.pi * rng.uniform(20.0, 200.0, size=CHANNELS) * time)
    waves += rng.normal(scale=500.0, size=waves.shape)
    waves[rng.integers(SAMPLES, size=12)] *= 5.0
    return waves.clip(-32_768, 32_767).astype(">i2").tobytes()


def channel(block, number):
    places = range(2 * number, len(block), FRAME)
    return np.array([int.from_bytes(block[k : k + 2], "big", signed=True) for k in places], dtype=float)  # waste: load


def channel_fixed(block, number):
    return np.frombuffer(block, dtype=">i2")[number::CHANNELS].astype(float)


def shocks(wave):
    """The crest factor, and how many samples stand out of the wave."""
    power = np.sqrt(np.mean(wave * wave))
    height = np.abs(wave)
    return height.max() / power, np.count_nonzero(height > 3.0 * power)


def work(repeats, read):
    rng = np.random.default_rng(1785)
    found = []
    for _ in range(repeats):
        block = recording(rng)
        for number in range(CHANNELS):
            found.append(shocks(read(block, number)))
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, channel), lambda n: work(n, channel_fixed), repeats=420)
