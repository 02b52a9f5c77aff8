# SPDX-License-Identifier: Apache-2.0
"""Clouds of sound: grains of a recording, shifted in pitch, are laid over each other; the room is added by one FFT."""

import numpy as np
import scipy.fft
import scipy.signal

import harness

RATE = 16_000


def recording(rng, seconds):
    """A plucked string and its noise."""
    count = int(RATE * seconds)
    time = np.arange(count) / RATE
    partials = np.arange(1, 13)[:, None]
    sound = np.sin(2.0 * np.pi * 147.0 * partials * time) * np.exp(-time * partials * 0.9)
    return (sound / partials).sum(axis=0) + 0.01 * rng.normal(size=count)


class Cloud:
    """Grains of different lengths, so that each is a slice of its own; a set of windows is kept for them."""

    def __init__(self, rng, sound):
        self.rng, self.sound = rng, sound
        self.steps = np.arange(3_000.0)
        self.lengths = (500, 640, 810, 1020, 1290)
        self.windows = {length: scipy.signal.windows.tukey(length, 0.6) for length in self.lengths}

    def grain(self, length, pitch):
        """Read faster or slower, between the samples."""
        span = int(length * pitch) + 2
        start = self.rng.integers(len(self.sound) - span)
        return self.windows[length] * np.interp(
            self.steps[:length] * pitch, self.steps[:span], self.sound[start:start + span])

    def render(self, seconds, density):
        out = np.zeros((2, int(RATE * seconds)))
        count = self.rng.poisson(seconds * density)
        starts = np.sort(self.rng.integers(out.shape[1] - max(self.lengths), size=count))
        lengths = self.rng.choice(self.lengths, count)
        pitches = 2.0 ** self.rng.uniform(-0.6, 0.6, count)
        sides = self.rng.random(count)
        gains = np.stack([np.cos(0.5 * np.pi * sides), np.sin(0.5 * np.pi * sides)], axis=1)
        for start, length, pitch, gain in zip(starts, lengths, pitches, gains):
            out[:, start:start + length] += gain[:, None] * self.grain(length, pitch)
        return out


def room(rng, seconds, decay):
    """The echo of a hall on both sides."""
    time = np.arange(int(RATE * seconds)) / RATE
    return rng.normal(size=(2, time.size)) * np.exp(-6.9 * time / decay)


class Hall:
    """Keeps the spectrum of its echo for clouds of one length."""

    def __init__(self, echo, length):
        self.size = scipy.fft.next_fast_len(echo.shape[1] + length - 1, real=True)
        self.spectrum = scipy.fft.rfft(echo, self.size) * 0.03

    def add(self, sound):
        wet = scipy.fft.irfft(scipy.fft.rfft(sound, self.size) * self.spectrum, self.size)
        return sound + wet[:, :sound.shape[1]]


def brightness(sound):
    """The centre of the spectrum over time."""
    pitches, _, power = scipy.signal.spectrogram(sound.mean(axis=0), RATE, nperseg=512, noverlap=256)
    return (pitches @ power) / (power.sum(axis=0) + 1e-12)


def work(clouds):
    rng = np.random.default_rng(1959)
    cloud, seconds = Cloud(rng, recording(rng, 4.0)), 3.0
    hall = Hall(room(rng, 1.2, 0.9), int(RATE * seconds))
    found = []
    for number in range(clouds):
        sound = hall.add(cloud.render(seconds, 60.0 + 20.0 * (number % 8)))
        bright = brightness(sound)
        found.append([np.sqrt((sound**2).mean()), np.abs(sound).max(), bright.mean(), bright.std()])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=600)
