# SPDX-License-Identifier: Apache-2.0
"""Tiles of a map with an icon for each shop; the drawing of the icon is scaled down again for each of them."""

import numpy as np
from PIL import Image

import harness

CATEGORY = "repeated native calls"
KIND = "store"


def icon_drawing(rng, size):
    """A pin: a disc of uneven colour on a transparent ground."""
    y, x = np.mgrid[:size, :size] / size - 0.5
    pixels = rng.integers(100, 200, size=(size, size, 4), dtype=np.uint8)
    pixels[..., 3] = np.where(x * x + y * y < 0.2, 255, 0)
    return Image.fromarray(pixels, "RGBA")


class Tile:
    def __init__(self, ground, icon):
        self.picture = ground.copy()
        self.icon = icon

    def small_icon(self):
        return self.icon.resize((20, 20), Image.Resampling.LANCZOS)  # waste: store

    def draw(self, shops):
        for x, y in shops:
            small = self.small_icon()
            self.picture.paste(small, (x - 10, y - 10), small)
        return np.asarray(self.picture).mean(axis=(0, 1))


class FixedTile(Tile):
    cache = {}

    def small_icon(self):
        if id(self.icon) not in self.cache:
            self.cache[id(self.icon)] = super().small_icon()
        return self.cache[id(self.icon)]


def work(repeats, kind):
    rng = np.random.default_rng(54)
    icon = icon_drawing(rng, 192)
    ground = Image.fromarray(rng.integers(220, 256, size=(256, 256, 3), dtype=np.uint8), "RGB")
    return [kind(ground, icon).draw(rng.integers(256, size=(60, 2)).tolist()) for _ in range(repeats)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, Tile), lambda n: work(n, FixedTile), repeats=130)
