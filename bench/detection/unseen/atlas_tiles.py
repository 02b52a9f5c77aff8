# SPDX-License-Identifier: Apache-2.0
"""Historical atlas: map tiles are written as PNG files, each with the palette and the colour profile of its sheet."""

import struct
import zlib

import numpy as np

import harness

# A sheet's profile is the same for all of its tiles, and compressed anew for each: repeated native calls.
CATEGORY = "repeated native calls"
KIND = "store"
SIZE = 48
Y, X = np.ogrid[:SIZE, :SIZE]
SIGNATURE = b"\x89PNG\r\n\x1a\n"


class Sheet:
    """A scanned map: tints of land, water and ink, and the profile of its scanner."""

    def __init__(self, rng, number):
        self.number = number
        self.palette = rng.integers(0, 256, (16, 3), dtype=np.uint8)
        curves = np.linspace(0, 1, 1792) ** rng.uniform(1.8, 2.4, (3, 1))
        noise = rng.integers(0, 4, (3, 1792)) * 64
        self.profile = (curves * 65_000 + noise).astype(">u2").tobytes()
        self.slope = rng.uniform(-0.05, 0.05, 2)

    def tile(self, rng, column, row):
        """Indices of colours: contour lines over bands of height."""
        height = self.slope[0] * (X + column * SIZE) + self.slope[1] * (Y + row * SIZE)
        height = height + 0.8 * np.sin(X / 9 + column) * np.cos(Y / 7 + row)
        bands = np.floor(height).astype(int)
        ink = (height - bands) < 0.08
        speck = rng.random((SIZE, SIZE)) < 0.01
        return np.where(ink | speck, 15, bands % 12).astype(np.uint8)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(data, zlib.crc32(kind)))


HEADER = chunk(b"IHDR", struct.pack(">IIBBBBB", SIZE, SIZE, 4, 3, 0, 0, 0))
END = chunk(b"IEND", b"")


def profile_chunk(sheet):
    return chunk(b"iCCP", b"scanner\0\0" + zlib.compress(sheet.profile, 6))  # waste: store


def palette_chunk(sheet):
    return chunk(b"PLTE", sheet.palette.tobytes())


def image_chunk(pixels):
    """Two pixels to a byte, each row with filter 0, or 2 where the row above is alike."""
    packed = (pixels[:, ::2] << 4) | pixels[:, 1::2]
    up = packed.copy()
    up[1:] -= packed[:-1]
    alike = np.count_nonzero(up == 0, axis=1) > SIZE // 4
    alike[0] = False
    rows = np.where(alike[:, None], up, packed)
    kinds = np.where(alike, 2, 0).astype(np.uint8)
    return chunk(b"IDAT", zlib.compress(np.column_stack([kinds, rows]).tobytes(), 6))


def write(pixels, profile, palette):
    return b"".join([SIGNATURE, HEADER, profile, palette, image_chunk(pixels), END])


def tiles(rng, sheet, columns=6, rows=5):
    for column in range(columns):
        for row in range(rows):
            yield sheet.tile(rng, column, row)


def sheet_files(rng, sheet):
    palette = palette_chunk(sheet)
    return [write(pixels, profile_chunk(sheet), palette) for pixels in tiles(rng, sheet)]  # waste: store


def sheet_files_fixed(rng, sheet):
    profile, palette = profile_chunk(sheet), palette_chunk(sheet)
    return [write(pixels, profile, palette) for pixels in tiles(rng, sheet)]


def index(files):
    """What the index of the atlas keeps of a sheet: sizes, a checksum and the number of files that differ."""
    sizes = [len(file) for file in files]
    check = 0
    for file in files:
        check = zlib.adler32(file, check)
    return [len(set(files)), sum(sizes), max(sizes), min(sizes), check % 65521]


def work(sheets, writing):
    rng = np.random.default_rng(7107)
    return [index(writing(rng, Sheet(rng, number))) for number in range(sheets)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, sheet_files), lambda n: work(n, sheet_files_fixed), repeats=470)
