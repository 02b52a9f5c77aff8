# SPDX-License-Identifier: Apache-2.0
"""Photographs of flats get an agency's watermark, whose file is decoded and scaled again for each photograph."""

import functools
import io
import random

import numpy as np
from PIL import Image, ImageDraw, ImageEnhance

import harness

# The watermark is the same for all photographs of a size: repeated native calls.
CATEGORY = "repeated native calls"
KIND = "store"


def logo_file():
    """A PNG as the agency's designer made it, much larger than needed."""
    logo = Image.new("RGBA", (1200, 400))
    pen = ImageDraw.Draw(logo)
    for i in range(40):
        pen.arc((20 + 9 * i, 20, 400 + 19 * i, 380), 20 * i, 20 * i + 200, fill=(255, 255, 255, 90 + 3 * i), width=7)
    pen.rectangle((30, 320, 1170, 370), fill=(20, 60, 160, 110))
    file = io.BytesIO()
    logo.save(file, "PNG")
    return file.getvalue()


LOGO = logo_file()


def watermark(width):
    logo = Image.open(io.BytesIO(LOGO)).convert("RGBA")  # waste: store
    height = logo.height * width // logo.width
    return logo.resize((width, height), Image.Resampling.LANCZOS)  # waste: store


def photograph(rng):
    """A room: walls, a window, some furniture."""
    picture = Image.new("RGB", (640, 480), (rng.randrange(180, 255), rng.randrange(180, 255), rng.randrange(160, 250)))
    pen = ImageDraw.Draw(picture)
    pen.polygon([(0, 480), (200, 330), (460, 330), (640, 480)], fill=(rng.randrange(60, 160), 80, 50))
    for _ in range(12):
        x, y = rng.randrange(600), rng.randrange(440)
        pen.rectangle((x, y, x + rng.randrange(10, 150), y + rng.randrange(10, 120)), fill=tuple(rng.choices(range(256), k=3)))
    return picture


def publish(picture, mark):
    """Returns the bytes that go to the web server, and the mean brightness."""
    picture = ImageEnhance.Contrast(picture).enhance(1.15)
    logo = mark(picture.width // 3)
    picture.paste(logo, (picture.width - logo.width - 12, picture.height - logo.height - 12), logo)
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=82)
    return len(file.getvalue()), np.asarray(picture.reduce(8)).mean()


def work(flats, mark):
    rng = random.Random(3)
    return [publish(photograph(rng), mark) for _ in range(flats)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, watermark), lambda n: work(n, functools.lru_cache(watermark)), repeats=350)
