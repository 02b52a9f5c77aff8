# SPDX-License-Identifier: Apache-2.0
"""Gives scanned photographs a sepia tone, pixel by pixel with Image.getpixel and Image.putpixel."""

import numpy as np
from PIL import Image

import harness

CATEGORY = "slice underutilization"
KIND = "load"
MATRIX = (
    (0.393, 0.769, 0.189),
    (0.349, 0.686, 0.168),
    (0.272, 0.534, 0.131),
)


def photograph(rng, width, height):
    y, x = np.mgrid[0:height, 0:width]
    waves = [np.sin(x / rng.uniform(8, 30) + y / rng.uniform(8, 30) + rng.uniform(0, 6)) for _ in range(3)]
    pixels = 120 + 70 * np.stack(waves, axis=2) + rng.normal(scale=10, size=(height, width, 3))
    return Image.fromarray(pixels.clip(0, 255).astype(np.uint8))


def tone(red, green, blue):
    return tuple(min(255, int(r * red + g * green + b * blue)) for r, g, b in MATRIX)  # waste: load


def sepia(image):
    result = Image.new("RGB", image.size)
    for y in range(image.height):
        for x in range(image.width):
            red, green, blue = image.getpixel((x, y))  # waste: load
            result.putpixel((x, y), tone(red, green, blue))  # waste: load
    return result


def sepia_fixed(image):
    pixels = np.asarray(image).astype(float)
    toned = sum(pixels[:, :, k, None] * np.array(MATRIX)[:, k] for k in range(3))
    return Image.fromarray(np.minimum(255, toned).astype(np.uint8))


def work(repeats, convert):
    rng = np.random.default_rng(33)
    found = []
    for _ in range(repeats):
        print_ = convert(photograph(rng, 160, 120)).resize((40, 30), Image.BILINEAR)
        found.append(np.asarray(print_).mean(axis=(0, 1)))
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, sepia), lambda n: work(n, sepia_fixed), repeats=105)
