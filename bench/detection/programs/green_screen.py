# SPDX-License-Identifier: Apache-2.0
"""Frames of a film before a green screen; the scenery is put in with Pillow, pixel by pixel."""

import numpy as np
from PIL import Image

import harness

CATEGORY = "slice underutilization"
KIND = "load"


def frame(rng, width, height):
    """An actor, an ellipse of mixed colours, before green."""
    pixels = np.empty((height, width, 3), dtype=np.uint8)
    pixels[:] = [30, 200, 40]
    pixels += rng.integers(20, size=pixels.shape, dtype=np.uint8)
    y, x = np.mgrid[:height, :width]
    centre = rng.uniform(0.3, 0.7) * width
    is_actor = ((x - centre) / (0.15 * width)) ** 2 + ((y - 0.6 * height) / (0.4 * height)) ** 2 < 1.0
    pixels[is_actor] = rng.integers(180, size=(np.count_nonzero(is_actor), 3))
    return Image.fromarray(pixels, "RGB")


def compose(front, scenery):
    result = scenery.copy()
    width, height = front.size
    for y in range(height):
        for x in range(width):
            red, green, blue = front.getpixel((x, y))  # waste: load
            if green < 120 or green < red + blue:
                result.putpixel((x, y), (red, green, blue))  # waste: load
    return result


def compose_fixed(front, scenery):
    pixels = np.asarray(front).astype(int)
    red, green, blue = pixels[..., 0], pixels[..., 1], pixels[..., 2]
    mask = (green < 120) | (green < red + blue)
    return Image.composite(front, scenery, Image.fromarray(mask))


def work(repeats, method):
    rng = np.random.default_rng(62)
    width, height = 320, 180
    scenery = Image.fromarray(rng.integers(256, size=(height, width, 3), dtype=np.uint8), "RGB")
    return [np.asarray(method(frame(rng, width, height), scenery)).mean(axis=(0, 1)) for _ in range(repeats)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, compose), lambda n: work(n, compose_fixed), repeats=110)
