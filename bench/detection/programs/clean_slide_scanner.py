# SPDX-License-Identifier: Apache-2.0
"""Old slides come from a scanner: each is another picture that is turned, freed of dust, balanced and packed."""

import io
import random

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageOps

import harness


def slide(rng):
    """A landscape with a sun, in the colours of an old film, as a file."""
    picture = Image.linear_gradient("L").resize((420, 280)).rotate(rng.uniform(-8, 8))
    sky = tuple(rng.randrange(120, 250) for _ in range(3))
    picture = ImageOps.colorize(picture, black=sky, white=tuple(rng.randrange(20, 120) for _ in range(3)))
    pen = ImageDraw.Draw(picture)
    for layer in range(4):
        points, y = [(0, 280)], 150 + 30 * layer
        for x in range(0, 421, 12):
            y += rng.randrange(-9, 10)
            points.append((x, y))
        pen.polygon([*points, (420, 280)], fill=tuple(rng.randrange(30, 160) for _ in range(3)))
    for _ in range(60):
        x, y = rng.randrange(420), rng.randrange(280)
        pen.line((x, y, x + rng.randrange(-6, 7), y + rng.randrange(-6, 7)), fill=(240, 240, 240))
    file = io.BytesIO()
    picture.save(file, "PNG", compress_level=3)
    return file.getvalue()


def dust(picture):
    """Bright spots that a median removes."""
    grey = picture.convert("L")
    calm = np.asarray(grey.filter(ImageFilter.MedianFilter(5)), dtype=np.int16)
    return Image.fromarray(np.uint8(255 * (np.asarray(grey) - calm > 40))).filter(ImageFilter.MaxFilter(3))


def restore(data, tilt):
    picture = Image.open(io.BytesIO(data)).convert("RGB")
    picture = picture.rotate(tilt, Image.Resampling.BICUBIC, expand=True)
    mask = dust(picture)
    picture.paste(picture.filter(ImageFilter.GaussianBlur(3)), mask=mask)
    picture = ImageOps.autocontrast(picture, cutoff=1).filter(ImageFilter.UnsharpMask(2, 80, 3))
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=88, optimize=True)
    colours = np.asarray(picture.reduce(10), dtype=float)
    return [len(file.getvalue()), np.count_nonzero(mask), *colours.mean(axis=(0, 1))]


def work(slides):
    rng = random.Random(1962)
    return [restore(slide(rng), rng.uniform(-2.0, 2.0)) for _ in range(slides)]


if __name__ == "__main__":
    harness.main(work, repeats=120)
