# SPDX-License-Identifier: Apache-2.0
"""Spectra are divided by the response of the instrument, whose spline is made from its table for every spectrum."""

import numpy as np
from scipy.interpolate import interp1d

import harness

CATEGORY = "loop-invariant computation"
KIND = "store"


def corrected(spectra, grid, table):
    found = np.empty_like(spectra)
    for number, spectrum in enumerate(spectra):
        response = interp1d(table[0], table[1], kind="cubic")  # waste: store
        found[number] = spectrum / response(grid + 0.01 * number)
    return found


def corrected_fixed(spectra, grid, table):
    response = interp1d(table[0], table[1], kind="cubic")
    found = np.empty_like(spectra)
    for number, spectrum in enumerate(spectra):
        found[number] = spectrum / response(grid + 0.01 * number)
    return found


def lines(rng, grid, count):
    """A spectrum of some emission lines."""
    centres, heights = rng.uniform(400.0, 700.0, size=count), rng.exponential(size=count)
    return heights @ np.exp(-0.5 * ((grid - centres[:, None]) / 1.5) ** 2) + 0.05


def work(repeats, correct):
    rng = np.random.default_rng(67)
    wavelengths = np.linspace(380.0, 720.0, 400)
    table = wavelengths, 1.0 + 0.3 * np.sin(wavelengths / 40.0) + rng.normal(scale=0.01, size=400)
    grid = np.linspace(400.0, 700.0, 600)
    total = np.zeros(600)
    for _ in range(repeats):
        spectra = lines(rng, grid, 12) * rng.normal(1.0, 0.02, size=(50, 1))
        total += correct(spectra, grid, table).mean(axis=0)
    return total


if __name__ == "__main__":
    harness.main(lambda n: work(n, corrected), lambda n: work(n, corrected_fixed), repeats=330)
