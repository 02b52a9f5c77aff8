# SPDX-License-Identifier: Apache-2.0
"""Land cover of a region, year by year: a cellular automaton of five classes in small integers."""

import numpy as np

import harness

WATER, FOREST, FIELD, TOWN, FALLOW = range(5)
SIZE = 384


def start(rng):
    height = np.zeros((SIZE, SIZE))
    for size in (6, 12, 24, 48):
        coarse = rng.normal(size=(size, size)) / size
        height += np.kron(coarse, np.ones((SIZE // size, SIZE // size)))
    cuts = np.quantile(height, [0.1, 0.55])
    land = np.full(height.shape, FIELD, dtype=np.uint8)
    land[height < cuts[1]] = FOREST
    land[height < cuts[0]] = WATER
    towns = rng.integers(SIZE, size=(2, 40))
    land[tuple(towns)] = TOWN
    return land


def around(mask):
    """How many of the eight cells around each are set; the region's edges meet."""
    rows = mask + np.roll(mask, 1, axis=0) + np.roll(mask, -1, axis=0)
    return rows + np.roll(rows, 1, axis=1) + np.roll(rows, -1, axis=1) - mask


def year(rng, land, demand):
    is_kind = [land == kind for kind in range(5)]
    town, forest, water = (around(is_kind[kind].view(np.uint8)) for kind in (TOWN, FOREST, WATER))
    dice = rng.random(land.shape, dtype=np.float32)
    new = land.copy()
    new[is_kind[FIELD] & (dice < 0.002 * (9 - forest))] = FALLOW
    new[is_kind[FALLOW] & (dice < 0.02 * forest)] = FOREST
    new[is_kind[FOREST] & (forest < 5) & (dice < 0.01 * demand)] = FIELD
    new[~is_kind[WATER] & (dice < 0.015 * demand * town * (town > 1))] = TOWN
    new[is_kind[FIELD] & (town == 1) & (dice < 0.02)] = TOWN
    new[is_kind[FALLOW] & (water > 5)] = WATER
    return new


def describe(land):
    shares = np.bincount(land.ravel(), minlength=5) / land.size
    edges = (land[1:] != land[:-1]).mean() + (land[:, 1:] != land[:, :-1]).mean()
    return [*shares, edges]


def work(years):
    rng, found = np.random.default_rng(1950), []
    land = start(rng)
    for number in range(years):
        if number % 60 == 59:
            land = start(rng)
        land = year(rng, land, 1.0 + 0.5 * np.sin(number / 9.0))
        found.append(describe(land))
    return found


if __name__ == "__main__":
    harness.main(work, repeats=4500)
