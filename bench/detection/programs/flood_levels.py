# SPDX-License-Identifier: Apache-2.0
"""At which level does a flood reach a town? The water rises step by step, and all pools are labelled at each step."""

import bisect

import numpy as np
from scipy import ndimage

import harness

CATEGORY = "inefficient algorithm"
KIND = "store"
SIZE = 120
RIVER, TOWN = (5, 5), (SIZE - 10, SIZE - 10)
LEVELS = np.linspace(0.0, 1.0, 301).tolist()


def terrain(rng):
    """Hills and valleys between 0 and 1; the river's bed is deep."""
    heights = ndimage.gaussian_filter(rng.normal(size=(SIZE, SIZE)), 4.0)
    heights -= heights.min()
    heights /= heights.max()
    heights[RIVER] = 0.0
    return heights


def is_reached(heights, level):
    pools, _ = ndimage.label(heights <= level)  # waste: store
    return bool(pools[RIVER] == pools[TOWN])


def flood(heights):
    for level in LEVELS:
        if is_reached(heights, level):  # waste: store
            return level
    return LEVELS[-1]


def flood_fixed(heights):
    return LEVELS[bisect.bisect_left(LEVELS, True, key=lambda level: is_reached(heights, level))]


def work(repeats, rise):
    rng = np.random.default_rng(1953)
    found = []
    for _ in range(repeats):
        heights = terrain(rng)
        level = rise(heights)
        found.append([level, np.count_nonzero(heights <= level), heights[TOWN]])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, flood), lambda n: work(n, flood_fixed), repeats=700)
