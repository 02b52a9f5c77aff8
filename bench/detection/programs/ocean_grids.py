# SPDX-License-Identifier: Apache-2.0
"""Temperatures of the sea from buoys to a grid, hour by hour; griddata triangulates the same buoys each time."""

import numpy as np
from scipy.interpolate import LinearNDInterpolator, griddata
from scipy.ndimage import gaussian_filter
from scipy.spatial import Delaunay

import harness

CATEGORY = "loop-invariant computation"
KIND = "store"


class Sea:
    def __init__(self, rng, buoys=3000):
        self.rng = rng
        self.places = rng.uniform(-1.0, 1.0, size=(buoys, 2))
        self.base = 14.0 - 6.0 * self.places[:, 1]
        self.eddies = rng.uniform(-1.0, 1.0, size=(8, 2))
        axis = np.linspace(-0.9, 0.9, 60)
        self.grid = np.stack(np.meshgrid(axis, axis), axis=-1)

    def hours(self, n):
        """What the buoys report."""
        for hour in range(n):
            self.eddies += self.rng.normal(0.0, 0.02, size=self.eddies.shape)
            values = self.base + 1.5 * np.sin(2.0 * np.pi * hour / 24.0)
            for sign, eddy in zip((1, -1) * 4, self.eddies):
                values = values + sign * 2.0 * np.exp(-20.0 * ((self.places - eddy) ** 2).sum(axis=1))
            yield values + self.rng.normal(0.0, 0.05, size=len(values))


def maps(sea, n):
    for values in sea.hours(n):
        yield griddata(sea.places, values, sea.grid, method="linear")  # waste: store


def maps_fixed(sea, n):
    triangles = Delaunay(sea.places)
    for values in sea.hours(n):
        yield LinearNDInterpolator(triangles, values)(sea.grid)


def fronts(temperature):
    """Where the water changes quickly."""
    filled = np.where(np.isnan(temperature), np.nanmean(temperature), temperature)
    smooth = gaussian_filter(filled, 1.5)
    slope = np.hypot(*np.gradient(smooth))
    return [np.nanmean(temperature), slope.max(), (slope > 0.2).mean()]


def work(seas, grids):
    rng = np.random.default_rng(1872)
    return [fronts(one) for _ in range(seas) for one in grids(Sea(rng), 24)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, maps), lambda n: work(n, maps_fixed), repeats=11)
