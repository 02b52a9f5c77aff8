# SPDX-License-Identifier: Apache-2.0
"""Photographs for a newspaper: error diffusion reads and writes the pixels of an array one by one."""

import numpy as np

import harness

CATEGORY = "slice underutilization"
KIND = "load"
HEIGHT, WIDTH = 160, 220


def photograph(rng):
    """Grey values of a soft scene with a bright sky and some grain."""
    rows, columns = np.mgrid[:HEIGHT, :WIDTH]
    scene = 150.0 - 0.4 * rows + rng.normal(scale=6.0, size=(HEIGHT, WIDTH))
    for _ in range(12):
        y, x, size = rng.uniform(0, HEIGHT), rng.uniform(0, WIDTH), rng.uniform(8, 60)
        scene += rng.uniform(-70, 70) * np.exp(-((rows - y) ** 2 + (columns - x) ** 2) / size**2)
    return np.clip(scene, 0.0, 255.0)


def ink(page, y, x):
    """Sets one dot to black or white and returns what is left over."""
    wanted = page[y, x]  # waste: load
    dot = 255.0 if wanted >= 127.5 else 0.0
    page[y, x] = dot
    return wanted - dot


def diffuse(page):
    for y in range(HEIGHT - 1):
        for x in range(1, WIDTH - 1):
            error = ink(page, y, x) / 16.0
            page[y, x + 1] += error * 7.0  # waste: load
            page[y + 1, x - 1] += error * 3.0  # waste: load
            page[y + 1, x] += error * 5.0  # waste: load
            page[y + 1, x + 1] += error  # waste: load
    return page


def diffuse_fixed(page):
    lines = page.tolist()
    for line, below in zip(lines, lines[1:]):
        for x in range(1, WIDTH - 1):
            wanted = line[x]
            line[x] = 255.0 if wanted >= 127.5 else 0.0
            error = (wanted - line[x]) / 16.0
            line[x + 1] += error * 7.0
            below[x - 1] += error * 3.0
            below[x] += error * 5.0
            below[x + 1] += error
    return np.array(lines)


def coverage(page):
    """How much ink each block of 20 by 20 dots takes: the mean, the extremes."""
    blocks = (page[:, :220] < 127.5).reshape(8, 20, 11, 20).mean(axis=(1, 3))
    return blocks.mean(), blocks.min(), blocks.max()


def work(repeats, screen):
    rng = np.random.default_rng(1605)
    return [coverage(screen(photograph(rng))) for _ in range(repeats)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, diffuse), lambda n: work(n, diffuse_fixed), repeats=400)
