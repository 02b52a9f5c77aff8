# SPDX-License-Identifier: Apache-2.0
"""Shaded relief of a mountain map: the slope of each cell is taken from its neighbours, one cell at a time."""

import numpy as np

import harness

CATEGORY = "slice underutilization"
KIND = "load"
CELL = 30.0  # metres


def terrain(rng, size):
    """Heights in metres, smoothed noise of three wavelengths."""
    y, x = np.mgrid[0:size, 0:size]
    heights = np.zeros((size, size))
    for wavelength in (60.0, 25.0, 9.0):
        phase = rng.uniform(0.0, 6.28, size=2)
        heights += wavelength * np.sin(x * 6.28 / wavelength + phase[0]) * np.cos(y * 6.28 / wavelength + phase[1])
    return heights + rng.normal(scale=0.5, size=heights.shape)


def shade(heights, azimuth, altitude):
    rows, columns = heights.shape
    light_x, light_y, light_z = np.cos(altitude) * np.sin(azimuth), np.cos(altitude) * np.cos(azimuth), np.sin(altitude)
    shades = np.zeros((rows - 2, columns - 2))
    for i in range(1, rows - 1):
        for j in range(1, columns - 1):
            east = (heights[i, j + 1] - heights[i, j - 1]) / (2 * CELL)  # waste: load
            north = (heights[i - 1, j] - heights[i + 1, j]) / (2 * CELL)  # waste: load
            light = light_z - light_x * east - light_y * north  # waste: load
            shades[i - 1, j - 1] = max(0.0, light / (1.0 + east * east + north * north) ** 0.5)  # waste: load
    return shades


def shade_fixed(heights, azimuth, altitude):
    light_x, light_y, light_z = np.cos(altitude) * np.sin(azimuth), np.cos(altitude) * np.cos(azimuth), np.sin(altitude)
    east = (heights[1:-1, 2:] - heights[1:-1, :-2]) / (2 * CELL)
    north = (heights[:-2, 1:-1] - heights[2:, 1:-1]) / (2 * CELL)
    light = light_z - light_x * east - light_y * north
    return np.maximum(0.0, light / np.sqrt(1.0 + east * east + north * north))


def work(repeats, render):
    rng = np.random.default_rng(7)
    found = []
    for _ in range(repeats):
        heights = terrain(rng, 150)
        for azimuth in (0.8, 5.5):
            shades = render(heights, azimuth, 0.7)
            found.append([shades.mean(), np.percentile(shades, 20)])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, shade), lambda n: work(n, shade_fixed), repeats=90)
