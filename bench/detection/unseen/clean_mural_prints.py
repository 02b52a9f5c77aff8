# SPDX-License-Identifier: Apache-2.0
"""Murals: photographs are straightened, evened out and compared with the last year's, with the filters of Pillow."""

import numpy as np
from PIL import Image, ImageChops, ImageFilter, ImageOps, ImageStat

import harness

SIZE = 224
SHARP = ImageFilter.UnsharpMask(radius=2, percent=120, threshold=2)
SOFT = ImageFilter.GaussianBlur(3)
IS_CRACK = [255 if value > 24 else 0 for value in range(256)]
RELIEF = ImageFilter.Kernel((3, 3), (-1, -1, 0, -1, 0, 1, 0, 1, 1), scale=1, offset=128)


class Mural:
    """Paint on a wall that loses colour and gets cracks."""

    def __init__(self, rng):
        y, x = np.mgrid[:SIZE, :SIZE] / SIZE
        waves = [np.sin(rng.uniform(5, 30) * x + rng.uniform(5, 30) * y + rng.uniform(0, 6)) for _ in range(6)]
        layers = [waves[at] * waves[at + 3] for at in range(3)]
        self.paint = np.stack(layers, axis=2) * 80 + 128

    def age(self, rng):
        """A year: colours fade, a crack goes from the left to the right."""
        self.paint = 128 + (self.paint - 128) * 0.97
        rows = np.clip(np.cumsum(rng.integers(-1, 2, SIZE)) + rng.integers(0, SIZE), 0, SIZE - 1)
        self.paint[rows, np.arange(SIZE)] = 40

    def photograph(self, rng):
        """The light is uneven, and the camera is not held straight."""
        light = np.linspace(rng.uniform(0.8, 1), rng.uniform(0.8, 1), SIZE)[:, None, None]
        pixels = self.paint * light + rng.normal(0, 3, (SIZE, SIZE, 1))
        picture = Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8), "RGB")
        corners = (rng.uniform(0, 8, 8) * (1, 1, 1, -1, -1, -1, -1, 1)).tolist()
        frame = (0, 0, 0, SIZE, SIZE, SIZE, SIZE, 0)
        quad = [corner + edge for corner, edge in zip(corners, frame)]
        return picture.transform((SIZE, SIZE), Image.Transform.QUAD, quad, Image.Resampling.BILINEAR)


def straighten(picture):
    """Within the frame, even in its light."""
    inner = picture.crop((8, 8, SIZE - 8, SIZE - 8)).resize((SIZE, SIZE), Image.Resampling.BICUBIC)
    return ImageOps.autocontrast(inner, cutoff=1)


def cracks(picture):
    """Part of the picture that is darker than what is around it."""
    grey = picture.convert("L")
    darker = ImageChops.subtract(grey.filter(SOFT), grey)
    return darker.point(IS_CRACK)


def change(before, after):
    """Mean differences by channel of two pictures that are blurred."""
    return ImageStat.Stat(ImageChops.difference(before, after)).mean


def print_sheet(picture):
    """A small print with a border, sharpened, and a relief for those who feel it."""
    small = picture.resize((SIZE // 2, SIZE // 2), Image.Resampling.LANCZOS).filter(SHARP)
    relief = small.convert("L").filter(RELIEF)
    sheet = ImageOps.expand(small, 6, "white")
    sheet.paste(relief.crop((0, 0, SIZE // 2, SIZE // 4)), (6, SIZE // 4 + 6))
    return ImageStat.Stat(sheet).mean


def years(rng, mural, count):
    before = None
    for _ in range(count):
        mural.age(rng)
        picture = straighten(mural.photograph(rng))
        share = ImageStat.Stat(cracks(picture)).mean[0] / 255
        blurred = picture.filter(SOFT)
        moved = change(before, blurred) if before else [0.0, 0.0, 0.0]
        yield [round(value, 6) for value in (share, *moved, *print_sheet(picture))]
        before = blurred


def work(murals):
    rng, rows = np.random.default_rng(7124), []
    for _ in range(murals):
        rows.extend(years(rng, Mural(rng), 8))
    return rows


if __name__ == "__main__":
    harness.main(work, repeats=56)
