# SPDX-License-Identifier: Apache-2.0
"""Scenes of a game, drawn from packed sheets; a sheet is inflated each time one of its sprites is drawn."""

import zlib

import numpy as np

import harness

CATEGORY = "repeated native calls"
KIND = "store"
FRAMES, SIZE, WIDTH, HEIGHT = 8, 32, 256, 192
NAMES = ("tree", "stone", "house", "sheep", "fence", "well", "cart", "fire")


def bank(rng):
    """{name: packed frames of RGBA}; a thing has forty colours and a transparent edge."""
    packed = {}
    y, x = np.mgrid[:SIZE, :SIZE] - SIZE / 2
    for name in NAMES:
        palette = rng.integers(256, size=(40, 3), dtype=np.uint8)
        pixels = np.empty((FRAMES, SIZE, SIZE, 4), dtype=np.uint8)
        pixels[..., :3] = palette[rng.integers(40, size=(FRAMES, SIZE, SIZE))]
        pixels[..., 3] = 255 * (x * x + y * y < rng.uniform(80, 250))
        packed[name] = zlib.compress(pixels.tobytes(), 9)
    return packed


class Screen:
    def __init__(self, packed):
        self.packed = packed

    def sheet(self, name):
        raw = zlib.decompress(self.packed[name])  # waste: store
        return np.frombuffer(raw, dtype=np.uint8).reshape(FRAMES, SIZE, SIZE, 4)

    def draw(self, things):
        """The scene from back to front."""
        canvas = np.full((HEIGHT, WIDTH, 3), 90, dtype=np.uint8)
        for name, frame, x, y in sorted(things, key=lambda thing: thing[3]):
            sprite = self.sheet(name)[frame]
            part = canvas[y : y + SIZE, x : x + SIZE]
            np.copyto(part, sprite[..., :3], where=sprite[..., 3:] > 0)
        return canvas


class FixedScreen(Screen):
    def __init__(self, packed):
        super().__init__(packed)
        self.inflated = {}

    def sheet(self, name):
        if name not in self.inflated:
            self.inflated[name] = super().sheet(name)
        return self.inflated[name]


def work(repeats, kind):
    rng = np.random.default_rng(709)
    screen = kind(bank(rng))
    found = []
    for _ in range(repeats):
        names = rng.integers(len(NAMES), size=60).tolist()
        places = rng.integers((FRAMES, WIDTH - SIZE, HEIGHT - SIZE), size=(60, 3)).tolist()
        scene = screen.draw([(NAMES[name], *place) for name, place in zip(names, places)])
        found.append(scene.mean(axis=(0, 1)))
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, Screen), lambda n: work(n, FixedScreen), repeats=900)
