# SPDX-License-Identifier: Apache-2.0
"""Scans of album pages: stamps are found, cut out, straightened and given a small palette; each page is another one."""

import numpy as np
from PIL import Image, ImageChops, ImageDraw, ImageFilter, ImageOps, ImageStat
from scipy import ndimage

import harness

PAGE = (560, 760)


def stamp(rng):
    size = (int(rng.integers(70, 120)), int(rng.integers(80, 130)))
    picture = Image.new("RGB", size, "white")
    draw = ImageDraw.Draw(picture)
    ground = tuple(int(value) for value in rng.integers(40, 220, 3))
    draw.rectangle((6, 6, size[0] - 7, size[1] - 7), fill=ground)
    for _ in range(5):
        x, y = rng.integers(10, size[0] - 30), rng.integers(10, size[1] - 30)
        colour = tuple(int(value) for value in rng.integers(0, 255, 3))
        draw.ellipse((x, y, x + int(rng.integers(8, 28)), y + int(rng.integers(8, 28))), fill=colour)
    return picture


def scan(rng):
    """Stamps on black paper, a little askew, with the dust of the glass."""
    page = Image.new("RGB", PAGE, (18, 18, 20))
    for row in range(4):
        for column in range(3):
            if rng.random() < 0.85:
                piece = stamp(rng).rotate(rng.uniform(-6, 6), Image.Resampling.BICUBIC, expand=True, fillcolor=(18, 18, 20))
                page.paste(piece, (20 + 180 * column + int(rng.integers(0, 20)), 15 + 185 * row + int(rng.integers(0, 20))))
    noise = Image.fromarray(rng.integers(0, 14, (PAGE[1], PAGE[0], 3), dtype=np.uint8), "RGB")
    return ImageChops.add(page, noise)


def find(page):
    """Boxes of what is not black paper."""
    grey = ImageOps.grayscale(page).filter(ImageFilter.MedianFilter(3))
    labels, _ = ndimage.label(np.asarray(grey) > 60)
    for rows, columns in ndimage.find_objects(labels):
        if rows.stop - rows.start > 50 and columns.stop - columns.start > 50:
            yield columns.start, rows.start, columns.stop, rows.stop


def lean(piece):
    """How far the left edge is off the vertical, in degrees."""
    bright = np.asarray(ImageOps.grayscale(piece)) > 60
    middle = bright[len(bright) // 4:-(len(bright) // 4)]
    slope = np.polyfit(np.arange(len(middle)), middle.argmax(axis=1), 1)[0]
    return float(np.degrees(np.arctan(slope)))


def keep(piece):
    straight = piece.rotate(-lean(piece), Image.Resampling.BICUBIC, fillcolor=(18, 18, 20))
    inner = straight.crop((8, 8, straight.width - 8, straight.height - 8))
    small = ImageOps.fit(inner, (64, 80), Image.Resampling.LANCZOS)
    return small.filter(ImageFilter.UnsharpMask(1, 80, 2)).quantize(16, Image.Quantize.MEDIANCUT)


def work(pages):
    rng, found = np.random.default_rng(121), []
    for _ in range(pages):
        page = scan(rng)
        stamps = [keep(page.crop(box)) for box in find(page)]
        bright = [ImageStat.Stat(one.convert("L")).mean[0] for one in stamps]
        found.append([len(stamps), np.mean(bright), np.std(bright), sum(len(one.getcolors()) for one in stamps)])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=80)
