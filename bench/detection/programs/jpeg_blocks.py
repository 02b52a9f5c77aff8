# SPDX-License-Identifier: Apache-2.0
"""How much do photographs suffer from being stored small? Blocks by the cosine transform, its matrix made anew."""

import numpy as np

import harness

# There is one cosine matrix of eight by eight, and it is computed for every block: repeated native calls.
CATEGORY = "repeated native calls"
KIND = "store"
EDGE = 8
TABLE = 1.0 + np.add.outer(np.arange(EDGE), np.arange(EDGE)) * 4.0


def photograph(rng, blocks):
    """Soft shapes and a little grain."""
    side = blocks * EDGE
    y, x = np.mgrid[:side, :side] / side
    picture = np.full((side, side), 128.0)
    for _ in range(6):
        cx, cy, width = rng.uniform(0, 1), rng.uniform(0, 1), rng.uniform(0.05, 0.3)
        picture += rng.uniform(-70, 70) * np.exp(-(np.square(x - cx) + np.square(y - cy)) / width**2)
    return np.clip(picture + rng.normal(0, 4.0, picture.shape), 0, 255)


def cosine_matrix(size):
    places = np.arange(size)
    matrix = np.cos(np.pi * np.outer(places, 2 * places + 1) / (2 * size)) * np.sqrt(2.0 / size)  # waste: store
    matrix[0] /= np.sqrt(2.0)  # waste: store
    return matrix


KNOWN = {}


def cosine_matrix_fixed(size):
    if size not in KNOWN:
        KNOWN[size] = cosine_matrix(size)
    return KNOWN[size]


class Codec:
    def __init__(self, quality, matrix):
        self.steps = TABLE * (50.0 / quality if quality < 50 else 2.0 - quality / 50.0 + 0.02)
        self.matrix = matrix

    def encode(self, block):
        matrix = self.matrix(EDGE)
        return np.rint(matrix @ (block - 128.0) @ matrix.T / self.steps)

    def decode(self, codes):
        matrix = self.matrix(EDGE)
        return np.clip(matrix.T @ (codes * self.steps) @ matrix + 128.0, 0, 255)


def tile(picture):
    for row in range(0, picture.shape[0], EDGE):
        for column in range(0, picture.shape[1], EDGE):
            yield np.s_[row:row + EDGE, column:column + EDGE]


def store(picture, codec):
    """The picture as it comes back, and how many numbers had to be kept."""
    back, kept = np.empty_like(picture), 0
    for place in tile(picture):
        codes = codec.encode(picture[place])
        kept += np.count_nonzero(codes)
        back[place] = codec.decode(codes)
    return back, kept


def noise_ratio(picture, back):
    return 10.0 * np.log10(255.0**2 / np.square(picture - back).mean())


def work(pictures, matrix):
    rng, found = np.random.default_rng(101), []
    for _ in range(pictures):
        picture = photograph(rng, 24)
        for quality in (25, 75):
            back, kept = store(picture, Codec(quality, matrix))
            found.append([noise_ratio(picture, back), kept / picture.size, np.abs(np.diff(back, axis=1)).mean()])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, cosine_matrix), lambda n: work(n, cosine_matrix_fixed), repeats=165)
