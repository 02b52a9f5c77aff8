# SPDX-License-Identifier: Apache-2.0
"""Old postcards: the tone of each scan is measured and corrected; the pixels are taken out of the picture as a list."""

import random

from PIL import Image, ImageDraw, ImageEnhance, ImageFilter, ImageOps, ImageStat

import harness

# The histogram holds the same figures, counted by the library: API misuse.
CATEGORY = "API misuse"
KIND = "load"
SIZE = (420, 280)
SKIES = ((150, 170, 190), (190, 180, 160), (120, 130, 150))


def postcard(rng):
    """Sky, hills, a house and a faded, yellow paper."""
    picture = Image.new("RGB", SIZE, rng.choice(SKIES))
    draw = ImageDraw.Draw(picture)
    for _ in range(rng.randrange(2, 5)):
        top, shade = rng.randrange(90, 200), rng.randrange(40, 120)
        points = [(x, top + rng.randrange(-25, 25)) for x in range(0, SIZE[0] + 30, 30)]
        draw.polygon([*points, (SIZE[0], SIZE[1]), (0, SIZE[1])], fill=(shade, shade + 15, shade - 10))
    x, y = rng.randrange(40, 300), rng.randrange(140, 200)
    draw.rectangle((x, y, x + 70, y + 50), fill=(130, 80, 60))
    draw.polygon(((x - 6, y), (x + 35, y - 30), (x + 76, y)), fill=(90, 40, 35))
    soft = picture.filter(ImageFilter.GaussianBlur(1.2))
    faded = ImageEnhance.Contrast(soft).enhance(rng.uniform(0.4, 0.9))
    return Image.blend(faded, Image.new("RGB", SIZE, (214, 190, 140)), rng.uniform(0.1, 0.4))


def tones(grey):
    """Mean, and the levels below which 2 and 98 per cent of the pixels are."""
    pixels = sorted(grey.getdata())  # waste: load
    count = len(pixels)
    return sum(pixels) / count, pixels[count // 50], pixels[count - 1 - count // 50]


def tones_fixed(grey):
    counts = grey.histogram()
    count = sum(counts)
    return sum(level * share for level, share in enumerate(counts)) / count, level_of(counts, count // 50), \
        level_of(counts, count - 1 - count // 50)


def level_of(counts, rank):
    """The level of the pixel with that rank."""
    seen = 0
    for level, share in enumerate(counts):
        seen += share
        if seen > rank:
            return level
    return len(counts) - 1


def stretched(band, low, high):
    scale = 255 / max(1, high - low)
    curve = [min(255, max(0, round((level - low) * scale))) for level in range(256)]
    return band.point(curve)


def gamma(mean):
    """The curve that brings the mean to the middle, within limits."""
    power = min(1.6, max(0.6, 1 + (mean - 118) / 160))
    return [round(255 * (level / 255) ** power) for level in range(256)]


def restore(picture, measuring):
    """Each colour on its own, against the yellow, then the brightness of the whole."""
    colours = []
    for band in picture.split():
        _, low, high = measuring(band)
        colours.append(stretched(band, low, high))
    bright = Image.merge("RGB", colours)
    mean, low, high = measuring(ImageOps.grayscale(bright))
    return bright.point(gamma(mean) * 3).filter(ImageFilter.UnsharpMask(1, 60, 2)), (low, high, mean)


def work(cards, measuring):
    rng, rows = random.Random(644), []
    for _ in range(cards):
        done, figures = restore(postcard(rng), measuring)
        small = ImageOps.fit(done, (96, 64), Image.Resampling.BICUBIC)
        stat = ImageStat.Stat(small)
        rows.append([*figures, *stat.mean, *stat.extrema[0], len(small.quantize(24).getcolors())])
    return rows


if __name__ == "__main__":
    harness.main(lambda n: work(n, tones), lambda n: work(n, tones_fixed), repeats=190)
