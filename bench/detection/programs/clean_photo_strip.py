# SPDX-License-Identifier: Apache-2.0
"""Contact sheets: photographs of different sizes are cropped, shrunk and pasted, each once."""

import numpy as np
from PIL import Image, ImageFilter, ImageOps

import harness

CELL = 96


def photograph(rng):
    """A blurred pattern of random blocks, as large as a small camera's."""
    width, height = rng.integers(300, 700, size=2)
    blocks = rng.integers(0, 256, size=(height // 40 + 1, width // 40 + 1, 3), dtype=np.uint8)
    return Image.fromarray(blocks).resize((int(width), int(height)), Image.BICUBIC)


def square(image):
    return ImageOps.fit(image, (CELL, CELL), Image.LANCZOS)


def sharpened(image):
    return image.filter(ImageFilter.UnsharpMask(radius=1.5, percent=80, threshold=2))


def sheet(images, columns):
    rows = -(-len(images) // columns)
    result = Image.new("RGB", (columns * (CELL + 4), rows * (CELL + 4)), "white")
    for k, image in enumerate(images):
        place = (k % columns) * (CELL + 4) + 2, (k // columns) * (CELL + 4) + 2
        result.paste(sharpened(square(image)), place)
    return result


def work(repeats):
    rng = np.random.default_rng(35)
    found = []
    for _ in range(repeats):
        page = sheet([photograph(rng) for _ in range(36)], 6)
        grey = np.asarray(page.convert("L"))
        found.append([grey.mean(), grey.std()])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=30)
