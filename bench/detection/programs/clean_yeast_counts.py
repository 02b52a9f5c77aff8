# SPDX-License-Identifier: Apache-2.0
"""Brewery laboratory: yeast cells under the microscope are counted, split where they touch, and told from dead ones."""

import numpy as np
from scipy import ndimage

import harness

SIDE = 384
RADIUS = 7
WINDOW = 24


def stamp():
    """A cell: a bright ring about a grey middle."""
    axis = np.arange(-WINDOW // 2, WINDOW // 2 + 1)
    distance = np.hypot(axis[:, None], axis)
    return np.exp(-((distance - RADIUS + 1) / 2.2) ** 2) + 0.55 * (distance < RADIUS)


CELL = stamp().astype(np.float32)


def picture(rng):
    """Cells, some of which touch; the dead ones took the blue stain."""
    count = int(rng.integers(110, 220))
    grey = rng.normal(0.08, 0.04, (SIDE, SIDE)).astype(np.float32)
    blue = np.zeros((SIDE, SIDE), dtype=np.float32)
    half, dead = WINDOW // 2, rng.random(count) < 0.2
    places = rng.integers(half, SIDE - half - 1, (count, 2))
    for (row, column), is_dead in zip(places.tolist(), dead.tolist()):
        window = np.s_[row - half:row + half + 1, column - half:column + half + 1]
        np.maximum(grey[window], CELL, out=grey[window])
        if is_dead:
            np.maximum(blue[window], CELL, out=blue[window])
    shade = np.linspace(0, 0.25, SIDE, dtype=np.float32)
    return grey + shade, blue


def level(grey):
    """Otsu's threshold: the cut with the largest variance between both sides."""
    counts, edges = np.histogram(grey, 128)
    below = np.cumsum(counts)
    sums = np.cumsum(counts * edges[:-1])
    above = below[-1] - below
    with np.errstate(divide="ignore", invalid="ignore"):
        between = below * above * (sums / below - (sums[-1] - sums) / above) ** 2
    return float(edges[np.nanargmax(between[:-1]) + 1])


def flattened(grey):
    """Without the slope of the lamp, which a small picture shows well enough."""
    small = grey.reshape(SIDE // 8, 8, SIDE // 8, 8).mean(axis=(1, 3))
    ground = ndimage.gaussian_filter(ndimage.minimum_filter(small, 5), 4)
    return grey - np.repeat(np.repeat(ground, 8, axis=0), 8, axis=1)


def seeds(mask):
    """Tops of the distance to the edge, one for each cell even where cells touch."""
    distance = ndimage.gaussian_filter(ndimage.distance_transform_edt(mask), 1.0)
    tops = (distance == ndimage.maximum_filter(distance, 9)) & (distance > 2.5)
    return ndimage.label(tops, np.ones((3, 3)))


def measure(grey, blue):
    flat = flattened(grey)
    mask = ndimage.binary_opening(flat > level(flat), iterations=2)
    markers, count = seeds(mask)
    costs = np.where(mask, 0, 255).astype(np.uint8)
    cells = ndimage.watershed_ift(costs, markers.astype(np.int16)) * mask
    areas = np.bincount(cells.ravel(), minlength=count + 1)[1:]
    stained = np.bincount(cells.ravel(), blue.ravel(), count + 1)[1:] / np.maximum(areas, 1)
    return count, areas, stained > 0.3


def work(slides):
    rng, rows = np.random.default_rng(650), []
    for _ in range(slides):
        count, areas, dead = measure(*picture(rng))
        rows.append([count, np.median(areas), areas.std(), np.count_nonzero(dead)])
    return np.round(rows, 6)


if __name__ == "__main__":
    harness.main(work, repeats=190)
