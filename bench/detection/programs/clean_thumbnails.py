# SPDX-License-Identifier: Apache-2.0
"""Photographs made ready for a catalogue with Pillow: turned, sharpened, made smaller, measured; each one is new."""

import numpy as np
from PIL import Image, ImageFilter, ImageOps, ImageStat

import harness

SIZE = (640, 480)


def photograph(rng):
    """Blots of colour, as no two pictures have them."""
    small = rng.integers(256, size=(12, 16, 3), dtype=np.uint8)
    return Image.fromarray(small, "RGB").resize(SIZE, Image.Resampling.BICUBIC)


def thumbnail(picture, degrees):
    picture = picture.rotate(degrees, Image.Resampling.BILINEAR, expand=True)
    picture = picture.filter(ImageFilter.UnsharpMask(radius=2, percent=120))
    picture = ImageOps.autocontrast(picture, cutoff=1)
    return picture.resize((160, 120), Image.Resampling.LANCZOS)


def work(repeats):
    rng = np.random.default_rng(308)
    found = []
    for _ in range(repeats):
        small = thumbnail(photograph(rng), rng.uniform(-5.0, 5.0))
        grey = ImageStat.Stat(small.convert("L"))
        found.append([*ImageStat.Stat(small).mean, grey.stddev[0]])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=120)
