# SPDX-License-Identifier: Apache-2.0
"""Finds the skin in photos by a rule on red, green and blue; each pixel is asked for by itself."""

import numpy as np
from PIL import Image, ImageFilter

import harness

CATEGORY = "slice underutilization"
KIND = "load"
WIDTH, HEIGHT = 160, 120
Y, X = np.mgrid[:HEIGHT, :WIDTH]


def photo(rng):
    """A face, roughly: an ellipse of a skin's colour before a wall of another."""
    centre_x, centre_y = rng.uniform(50, 110), rng.uniform(40, 80)
    face = ((X - centre_x) / 28.0) ** 2 + ((Y - centre_y) / 38.0) ** 2 < 1.0
    pixels = np.where(face[..., None], [190, 140, 115], rng.integers(60, 140, size=3))
    pixels = pixels + rng.normal(scale=22.0, size=(HEIGHT, WIDTH, 3))
    return Image.fromarray(pixels.clip(0, 255).astype(np.uint8), "RGB").filter(ImageFilter.SMOOTH)


def face_box(picture):
    """How many pixels look like skin, and the box around them."""
    count = 0
    left, top, right, bottom = WIDTH, HEIGHT, -1, -1
    for y in range(picture.height):
        for x in range(picture.width):
            red, green, blue = picture.getpixel((x, y))  # waste: load
            if red > 95 and green > 40 and blue > 20 and red - green > 15 and red > blue:
                count += 1
                left, right = min(left, x), max(right, x)
                top, bottom = min(top, y), max(bottom, y)
    return count, left, top, right, bottom


def face_box_fixed(picture):
    red, green, blue = np.moveaxis(np.asarray(picture).astype(np.int16), 2, 0)
    skin = (red > 95) & (green > 40) & (blue > 20) & (red - green > 15) & (red > blue)
    rows, columns = np.flatnonzero(skin.any(axis=1)), np.flatnonzero(skin.any(axis=0))
    if not rows.size:
        return 0, WIDTH, HEIGHT, -1, -1
    return int(skin.sum()), columns[0], rows[0], columns[-1], rows[-1]


def work(repeats, find):
    rng = np.random.default_rng(701)
    return [find(photo(rng)) for _ in range(repeats)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, face_box), lambda n: work(n, face_box_fixed), repeats=450)
