# SPDX-License-Identifier: Apache-2.0
"""Conference badges of electronic paper: names are drawn from a font of pixels, packed and sent with a checksum."""

import itertools
import random
import string
import zlib

import numpy as np

import harness

# A row of a letter is a slice of the screen, which one assignment fills: slice underutilization.
CATEGORY = "slice underutilization"
KIND = "store"
WIDTH, HEIGHT = 264, 72
LETTERS = string.ascii_uppercase + " .-"
TALKS = ("SPEAKER", "GUEST", "STAFF", "PRESS", "VISITOR")


class Font:
    """A byte for each pixel; letters have widths of their own."""

    def __init__(self, rng, height):
        self.height = height
        self.glyphs = {}
        for letter in LETTERS:
            width = rng.randrange(height // 2, height)
            ink = rng.choices((0, 0, 1), k=width * height)
            self.glyphs[letter] = width, bytes(ink)

    def measure(self, text):
        return sum(self.glyphs[letter][0] + 1 for letter in text)

    def fit(self, text, room):
        """As much of the text as there is room for."""
        while self.measure(text) > room:
            text = text[:-1]
        return text


def draw(screen, font, left, top, text):
    for letter in text:
        width, ink = font.glyphs[letter]
        for row in range(font.height):
            at, source = (top + row) * WIDTH + left, row * width
            for column in range(width):
                screen[at + column] = ink[source + column]  # waste: store
        left += width + 1
    return left


def draw_fixed(screen, font, left, top, text):
    for letter in text:
        width, ink = font.glyphs[letter]
        for row in range(font.height):
            at, source = (top + row) * WIDTH + left, row * width
            screen[at:at + width] = ink[source:source + width]
        left += width + 1
    return left


def person(rng):
    first = "".join(rng.choices(string.ascii_uppercase, k=rng.randrange(3, 9)))
    last = "".join(rng.choices(string.ascii_uppercase, k=rng.randrange(4, 12)))
    return f"{first[0]}. {last}", rng.choice(TALKS), rng.randrange(10_000)


def frame_lines(screen, thickness):
    """A border, the whole lines at once."""
    edge = b"\x01" * WIDTH
    for row in itertools.chain(range(thickness), range(HEIGHT - thickness, HEIGHT)):
        screen[row * WIDTH:(row + 1) * WIDTH] = edge


def packets(screen):
    """Eight pixels to a byte; a packet is a row that is not empty, with its number before it."""
    bits = np.packbits(np.frombuffer(screen, dtype=np.uint8).reshape(HEIGHT, WIDTH), axis=1)
    for number, row in enumerate(bits):
        if row.any():
            yield bytes([number]) + row.tobytes()


def badge(screen, large, small, rng, drawing):
    name, role, number = person(rng)
    screen[:] = bytes(len(screen))
    frame_lines(screen, 2)
    end = drawing(screen, large, 6, 8, large.fit(name, WIDTH - 12))
    drawing(screen, small, 6, 48, small.fit(role, WIDTH - 12))
    sent = list(packets(screen))
    check = 0
    for packet in sent:
        check = zlib.crc32(packet, check)
    whole = zlib.compress(b"".join(sent), 6)
    return [number, end, len(sent), len(whole), check % 65521]


def work(badges, drawing):
    rng = random.Random(7101)
    large, small = Font(rng, 24), Font(rng, 14)
    screen = bytearray(WIDTH * HEIGHT)
    return [badge(screen, large, small, rng, drawing) for _ in range(badges)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, draw), lambda n: work(n, draw_fixed), repeats=12000)
