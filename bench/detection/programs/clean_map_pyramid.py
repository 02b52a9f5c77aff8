# SPDX-License-Identifier: Apache-2.0
"""Tiles of a drawn map for all zoom levels: each level is halved from the one before, each tile is stored once."""

import io
import random
import zlib

from PIL import Image, ImageChops, ImageDraw, ImageFilter

import harness

TILE, LEVELS = 128, 3
PALETTE = {"sea": (170, 200, 225), "land": (235, 228, 205), "wood": (150, 185, 130), "road": (220, 120, 70), "town": (90, 80, 85)}


def coast(source, size):
    """A closed line around an island."""
    points, count = [], 60
    for number in range(count):
        turn = 6.283 * number / count
        vector = complex(source.uniform(0.3, 0.45), 0.0) * size * complex(0.5403, 0.8415) ** turn
        points.append((size / 2 + vector.real, size / 2 + vector.imag))
    return points


def draw_map(source):
    size = TILE << LEVELS - 1
    picture = Image.new("RGB", (size, size), PALETTE["sea"])
    pen = ImageDraw.Draw(picture)
    shape = coast(source, size)
    pen.polygon(shape, fill=PALETTE["land"], outline=(120, 120, 110))
    for _ in range(40):
        x, y = source.uniform(0.3, 0.7) * size, source.uniform(0.3, 0.7) * size
        wide, high = source.uniform(5, 30), source.uniform(5, 30)
        pen.ellipse((x - wide, y - high, x + wide, y + high), fill=PALETTE["wood"])
    towns = [(source.uniform(0.3, 0.7) * size, source.uniform(0.3, 0.7) * size) for _ in range(9)]
    for one, other in zip(towns, towns[1:]):
        pen.line((*one, *other), fill=PALETTE["road"], width=3)
    for x, y in towns:
        pen.rectangle((x - 4, y - 4, x + 4, y + 4), fill=PALETTE["town"])
    return picture


def shade(source, picture):
    """Hills from smoothed noise, as if lit from the west."""
    size = picture.size[0]
    noise = Image.frombytes("L", (size // 8, size // 8), source.randbytes((size // 8) ** 2))
    hills = noise.resize(picture.size, Image.Resampling.BICUBIC).filter(ImageFilter.BoxBlur(6))
    light = ImageChops.subtract(hills, ImageChops.offset(hills, 3, 0), scale=0.5, offset=215)
    return ImageChops.multiply(picture, Image.merge("RGB", (light, light, light)))


def tiles(picture):
    """Squares of a level, row by row."""
    for top in range(0, picture.height, TILE):
        for left in range(0, picture.width, TILE):
            yield picture.crop((left, top, left + TILE, top + TILE))


class Store:
    """Tiles as PNG by their content: the sea is stored once."""

    def __init__(self):
        self.files, self.places = {}, []

    def add(self, tile):
        mark = zlib.crc32(tile.tobytes())
        if mark not in self.files:
            target = io.BytesIO()
            tile.quantize(32).save(target, "PNG", compress_level=6)
            self.files[mark] = target.getvalue()
        self.places.append(mark)


def pyramid(picture):
    store = Store()
    for level in range(LEVELS):
        for tile in tiles(picture):
            store.add(tile)
        if level + 1 < LEVELS:
            picture = picture.reduce(2).filter(ImageFilter.UnsharpMask(1, 60, 2))
    return store


def work(maps):
    source = random.Random(1569)
    found = []
    for _ in range(maps):
        store = pyramid(shade(source, draw_map(source)))
        found.append([len(store.places), len(store.files), sum(map(len, store.files.values()))])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=75)
