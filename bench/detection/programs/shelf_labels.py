# SPDX-License-Identifier: Apache-2.0
"""Labels for the shelves of a shop: the font is loaded for each line of text that is drawn."""

import random

import numpy as np
from PIL import Image, ImageDraw, ImageFont, ImageOps

import harness

# load_default() unpacks the same font each time; the helper that writes one line asks for it, whoever calls it. The
# same call with the same result, from several places: repeated native calls.
CATEGORY = "repeated native calls"
KIND = "store"
SIZE = (148, 61)
GOODS = ("Apple juice", "Brown rice", "Chick peas", "Dark bread", "Elderflower", "Feta", "Ginger tea", "Hazelnuts")


class Article:
    def __init__(self, source):
        self.name = source.choice(GOODS)
        self.grams = source.choice((100, 150, 200, 250, 500, 750, 1000))
        self.cents = source.randrange(49, 1_999)
        self.number = f"{source.randrange(10**11):011}"
        self.is_offer = source.random() < 0.2

    @property
    def by_kilogram(self):
        return f"{self.cents * 10 / self.grams:.2f} / kg"


class Printer:
    def font(self):
        return ImageFont.load_default()  # waste: store

    def write(self, pen, place, text, ink=0):
        pen.text(place, text, fill=ink, font=self.font())

    def bars(self, pen, number, left, top):
        """A bar code, though a simple one: two bars for each digit."""
        for place, digit in enumerate(map(int, number)):
            x = left + 5 * place
            pen.rectangle((x, top, x + digit % 2, top + 12), fill=0)
            pen.rectangle((x + 2, top, x + 2 + digit // 4, top + 12), fill=0)

    def label(self, article):
        picture = Image.new("L", SIZE, 255)
        pen = ImageDraw.Draw(picture)
        self.write(pen, (4, 2), article.name)
        self.write(pen, (4, 15), f"{article.grams} g")
        self.write(pen, (76, 15), article.by_kilogram)
        self.write(pen, (76, 28), f"{article.cents / 100:.2f}")
        if article.is_offer:
            pen.rectangle((4, 28, 44, 40), fill=60)
            self.write(pen, (7, 29), "OFFER", 255)
        self.bars(pen, article.number, 4, 45)
        self.write(pen, (76, 46), article.number)
        return ImageOps.expand(picture, border=1, fill=0)


class FixedPrinter(Printer):
    def __init__(self):
        self.loaded = ImageFont.load_default()

    def font(self):
        return self.loaded


def sheet(labels):
    """Three columns of labels, in black and white as the printer wants them."""
    width, height = labels[0].size
    page = Image.new("L", (3 * width, (len(labels) + 2) // 3 * height), 255)
    for number, label in enumerate(labels):
        page.paste(label, (number % 3 * width, number // 3 * height))
    return page.point(lambda level: 255 * (level > 127)).convert("1")


def work(sheets, kind):
    source = random.Random(2929)
    printer, found = kind(), []
    for _ in range(sheets):
        page = sheet([printer.label(Article(source)) for _ in range(24)])
        black = ~np.asarray(page)
        found.append([black.sum(), black.argmax(), black.sum(axis=0).max()])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, Printer), lambda n: work(n, FixedPrinter), repeats=650)
