# SPDX-License-Identifier: Apache-2.0
"""A recorder keeps the last second of sound in a ring; each sample of a block is put there by itself."""

import numpy as np

import harness

CATEGORY = "slice underutilization"
KIND = "store"
RATE, BLOCK = 44100, 1024


class Recorder:
    def __init__(self):
        self.ring = np.zeros(RATE, dtype=np.float32)
        self.head = 0

    def put(self, block):
        for sample in block:
            self.ring[self.head] = sample  # waste: store
            self.head = (self.head + 1) % RATE

    def loudness(self):
        """Decibels of the last second."""
        return 10.0 * np.log10(np.square(self.ring).mean() + 1e-12)


class FixedRecorder(Recorder):
    def put(self, block):
        room = RATE - self.head
        self.ring[self.head : self.head + len(block)] = block[:room]
        if len(block) > room:
            self.ring[: len(block) - room] = block[room:]
        self.head = (self.head + len(block)) % RATE


def tones(rng, blocks):
    """A voice that glides from one pitch to the next and a little hiss."""
    phase, pitch = 0.0, 220.0
    for _ in range(blocks):
        pitch = float(np.clip(pitch * rng.uniform(0.97, 1.03), 80.0, 900.0))
        phases = phase + np.arange(1, BLOCK + 1) * (2.0 * np.pi * pitch / RATE)
        phase = phases[-1] % (2.0 * np.pi)
        yield (0.4 * np.sin(phases) + rng.normal(scale=0.02, size=BLOCK)).astype(np.float32)


def work(repeats, kind):
    rng = np.random.default_rng(702)
    recorder = kind()
    levels = []
    for number, block in enumerate(tones(rng, repeats)):
        recorder.put(block)
        if number % 20 == 19:
            levels.append(recorder.loudness())
    return [*levels, recorder.head, recorder.ring.sum(dtype=float)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, Recorder), lambda n: work(n, FixedRecorder), repeats=42000)
