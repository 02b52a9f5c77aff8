# SPDX-License-Identifier: Apache-2.0
"""Lights of a stage: the bytes of a driver's buffer are taken out one by one, for the current and for the gamma."""

import ctypes

import numpy as np

import harness

CATEGORY = "slice underutilization"
KIND = "load"
LIGHTS = 600
MICROAMPERES = (78, 74, 80)  # for each step of red, green and blue
LIMIT = 14_000_000


def gamma_table(dimmed):
    steps = np.arange(256) / 255.0
    return bytes(np.round(255 * (1.0 - dimmed / 16) * steps**2.2).astype(np.uint8))


class Strip:
    """Frames arrive in the buffer; `show` says what goes over the wire."""

    tables = [gamma_table(dimmed) for dimmed in range(16)]

    def __init__(self, lights):
        self.pixels = (ctypes.c_uint8 * (3 * lights))()

    def draw(self, frame):
        ctypes.memmove(self.pixels, frame.ctypes.data, len(self.pixels))

    def current(self):
        total = 0
        for first in range(0, len(self.pixels), 3):
            for colour in range(3):
                total += self.pixels[first + colour] * MICROAMPERES[colour]  # waste: load
        return total

    def dimmed(self):
        return min(15, max(0, (self.current() - LIMIT) // 500_000))

    def show(self):
        table = self.tables[self.dimmed()]
        return bytes(table[self.pixels[place]] for place in range(len(self.pixels)))  # waste: load


class FixedStrip(Strip):
    def current(self):
        raw = bytes(self.pixels)
        return sum(sum(raw[colour::3]) * MICROAMPERES[colour] for colour in range(3))

    def show(self):
        return bytes(self.pixels).translate(self.tables[self.dimmed()])


def waves(rng, frames):
    """Three waves of colour that run along the strip, over a glow that flickers."""
    place = np.arange(LIGHTS)[:, None] / LIGHTS
    speed, phase = rng.uniform(0.5, 3.0, size=3), rng.uniform(0, 6, size=3)
    for frame in range(frames):
        light = 120 + 90 * np.sin(6.3 * (2 * place + speed * frame / 25) + phase) + rng.uniform(0, 45, (LIGHTS, 3))
        yield np.ascontiguousarray(light.astype(np.uint8))


def work(repeats, kind):
    rng = np.random.default_rng(1962)
    strip, sent = kind(LIGHTS), []
    for _ in range(repeats):
        for frame in waves(rng, 25):
            strip.draw(frame)
            wire = np.frombuffer(strip.show(), dtype=np.uint8)
            sent.append([wire.mean(), wire[::7].std()])
    return sent


if __name__ == "__main__":
    harness.main(lambda n: work(n, Strip), lambda n: work(n, FixedStrip), repeats=430)
