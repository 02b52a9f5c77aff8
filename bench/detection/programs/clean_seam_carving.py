# SPDX-License-Identifier: Apache-2.0
"""Panoramas are made narrower where nothing happens: the cheapest seam by dynamic programming, row after row."""

import numpy as np

import harness

HIGH, WIDE = 140, 220


def panorama(rng):
    y, x = np.mgrid[:HIGH, :WIDE]
    picture = 120.0 + 60.0 * np.tanh((y - HIGH * (0.5 + 0.1 * np.sin(x / rng.uniform(15, 40)))) / 4.0)
    for _ in range(5):
        cy, cx, size = rng.uniform(20, HIGH - 20), rng.uniform(10, WIDE - 10), rng.uniform(4, 14)
        inside = (np.abs(y - cy) < size) & (np.abs(x - cx) < size)
        picture[inside] = rng.uniform(0, 255)
    return picture + rng.normal(0, 2.0, picture.shape)


def energy(picture):
    down, right = np.gradient(picture)
    return np.abs(down) + np.abs(right)


def costs(power):
    """Of the cheapest seam from above to each pixel. Each row needs the one before it."""
    total = power.copy()
    padded = np.full(power.shape[1] + 2, np.inf)
    for row in range(1, len(power)):
        padded[1:-1] = total[row - 1]
        total[row] += np.minimum(np.minimum(padded[:-2], padded[1:-1]), padded[2:])
    return total


def seam(total):
    places = np.empty(len(total), int)
    places[-1] = total[-1].argmin()
    for row in range(len(total) - 2, -1, -1):
        first = max(0, places[row + 1] - 1)
        places[row] = first + total[row, first:places[row + 1] + 2].argmin()
    return places


def cut(picture, places):
    rows, columns = picture.shape
    keep = np.ones(picture.shape, bool)
    keep[np.arange(rows), places] = False
    return picture[keep].reshape(rows, columns - 1)


def narrow(picture, count):
    spent = 0.0
    for _ in range(count):
        total = costs(energy(picture))
        places = seam(total)
        spent += total[-1, places[-1]]
        picture = cut(picture, places)
    return picture, spent


def work(pictures):
    rng, found = np.random.default_rng(111), []
    for _ in range(pictures):
        picture, spent = narrow(panorama(rng), 60)
        found.append([picture.mean(), picture.std(), spent / 60.0, picture.shape[1]])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=110)
