# SPDX-License-Identifier: Apache-2.0
"""Sheets of badges for a fair: each icon is laid over the sheet by way of a layer as large as the whole sheet."""

import random

import numpy as np
from PIL import Image, ImageDraw

import harness

# A badge's icon covers a hundredth of the sheet, yet all pixels are cleared, blended and written for it: the work grows
# with icons times pixels of the sheet. That is the method's doing, so inefficient algorithm.
CATEGORY = "inefficient algorithm"
KIND = "store"
SHEET, ICON = (413, 585), 36
COLOURS = ("#0b3954", "#bfd7ea", "#ff6663", "#e0ff4f", "#5b8e7d", "#bc4b51")
SHAPES = ("ellipse", "polygon", "rounded")


def icon(source):
    """A picture with soft edges: drawn at four times its size."""
    large = Image.new("RGBA", (4 * ICON, 4 * ICON))
    pen, edge = ImageDraw.Draw(large), 4 * ICON - 9
    colour, shape = source.choice(COLOURS), source.choice(SHAPES)
    if shape == "ellipse":
        pen.ellipse((8, 8, edge, edge), fill=colour)
    elif shape == "polygon":
        pen.regular_polygon((2 * ICON, 2 * ICON, 2 * ICON - 8), source.randrange(3, 8), fill=colour)
    else:
        pen.rounded_rectangle((8, 8, edge, edge), radius=source.randrange(8, 50), fill=colour)
    pen.line((0, 4 * ICON, 4 * ICON, source.randrange(4 * ICON)), fill=(255, 255, 255, 120), width=9)
    return large.resize((ICON, ICON), Image.Resampling.LANCZOS)


class Sheet:
    def __init__(self, tint):
        self.picture = Image.new("RGBA", SHEET, tint)
        pen = ImageDraw.Draw(self.picture)
        for x in range(0, SHEET[0], 59):
            pen.line((x, 0, x, SHEET[1]), fill="#888888")

    def put(self, picture, place):
        layer = Image.new("RGBA", self.picture.size)  # waste: store
        layer.paste(picture, place)
        self.picture = Image.alpha_composite(self.picture, layer)  # waste: store

    def ink(self):
        """What the printer will need of each colour, as a share of the sheet."""
        pixels = np.asarray(self.picture.convert("RGB").reduce(4), dtype=float)
        return 1.0 - pixels.mean(axis=(0, 1)) / 255.0


class FixedSheet(Sheet):
    def put(self, picture, place):
        self.picture.alpha_composite(picture, dest=place)


def guests(source, icons):
    """Where which icons go: one large row per guest, with a mark for each workshop."""
    for row in range(8, SHEET[1] - ICON, 48):
        for column in range(5, SHEET[0] - ICON, 59):
            if source.random() < 0.8:
                yield source.choice(icons), (column + source.randrange(8), row)


def work(sheets, kind):
    source = random.Random(2604)
    icons = [icon(source) for _ in range(40)]
    found = []
    for number in range(sheets):
        sheet = kind((250 - number % 20, 245, 235, 255))
        for picture, place in guests(source, icons):
            sheet.put(picture, place)
        found.append(sheet.ink())
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, Sheet), lambda n: work(n, FixedSheet), repeats=400)
