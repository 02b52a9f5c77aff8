# SPDX-License-Identifier: Apache-2.0
"""Jingles between the songs of a radio: samples are mixed one by one, fades and clipping included."""

import numpy as np

import harness

# All samples of a block are treated alike and none needs the one before; slices of the arrays would be mixed in a few
# operations. Visiting their elements one at a time is slice underutilization.
CATEGORY = "slice underutilization"
KIND = "load"
RATE = 8_000
AUDIO = np.dtype(">i2")  # as in AIFF files
LIMIT = 32_767


def song(rng, seconds):
    """Stereo: a few partials that decay again and again."""
    time = np.arange(int(RATE * seconds)) / RATE
    beat = np.exp(-3.0 * (time % rng.uniform(0.3, 0.6)))
    parts = [np.sin(2.0 * np.pi * pitch * time + rng.uniform(0, 6, (2, 1))) for pitch in rng.uniform(90.0, 900.0, 4)]
    sound = np.mean(parts, axis=0) * beat + 0.02 * rng.normal(size=(2, time.size))
    return (24_000 * sound).T.astype(AUDIO)


def jingle(rng):
    time = np.arange(int(RATE * rng.uniform(0.4, 0.7))) / RATE
    pitch = 440.0 * 2.0 ** (rng.integers(-5, 8, size=4) / 12.0)
    sound = np.sin(2.0 * np.pi * np.cumsum(pitch[(time * 7.0).astype(int) % 4]) / RATE)
    return (20_000 * np.stack([sound, 0.8 * sound], axis=1)).astype(AUDIO)


class Desk:
    """Mixes a jingle over the seam of two songs."""

    def __init__(self, duck):
        self.duck = duck

    def ramp(self, length):
        """How loud the music is while the jingle plays: down, flat, up."""
        edge = min(length // 3, RATE // 10)
        level = np.full(length, self.duck)
        level[:edge] = np.linspace(1.0, self.duck, edge)
        level[length - edge:] = np.linspace(self.duck, 1.0, edge)
        return level

    def overlay(self, track, voice, start):
        level = self.ramp(len(voice))
        for n in range(len(voice)):
            for channel in range(2):
                value = track[start + n, channel] * level[n] + voice[n, channel]  # waste: load
                track[start + n, channel] = max(-LIMIT, min(LIMIT, int(value)))  # waste: load

    def programme(self, songs, voices):
        track = np.concatenate(songs)
        seam = 0
        for part, voice in zip(songs, voices):
            seam += len(part)
            self.overlay(track, voice, min(seam - len(voice) // 2, len(track) - len(voice)))
        return track


class FixedDesk(Desk):
    def overlay(self, track, voice, start):
        part = track[start:start + len(voice)]
        mixed = part * self.ramp(len(voice))[:, None] + voice
        part[:] = np.clip(np.trunc(mixed), -LIMIT, LIMIT)


def loudness(track):
    """In decibels for each fifth of a second, as the station's meter shows it."""
    block = RATE // 5
    cut = track[:len(track) // block * block].astype(float).reshape(-1, block, 2)
    return 10.0 * np.log10((cut**2).mean(axis=(1, 2)) + 1.0)


def work(hours, kind):
    rng = np.random.default_rng(1923)
    found = []
    for _ in range(hours):
        songs, voices = [song(rng, 1.5) for _ in range(5)], [jingle(rng) for _ in range(5)]
        levels = loudness(kind(0.35).programme(songs, voices))
        found.append([levels.mean(), levels.max(), levels.std()])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, Desk), lambda n: work(n, FixedDesk), repeats=160)
