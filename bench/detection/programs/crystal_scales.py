# SPDX-License-Identifier: Apache-2.0
"""Crystal refinement: scale and temperature factor are fitted to reflections; the atoms stay where they are."""

import numpy as np
from scipy import optimize

import harness

# Phases depend on positions alone, which no step of the fit changes: loop-invariant computation.
CATEGORY = "loop-invariant computation"
KIND = "load"
ATOMS, REFLECTIONS = 48, 420
ELEMENTS = {"C": (6, 13.0), "O": (8, 11.5), "S": (16, 9.0)}


class Crystal:
    def __init__(self, rng):
        self.positions = rng.uniform(0, 1, (ATOMS, 3))
        names = rng.choice(list(ELEMENTS), ATOMS, p=(0.6, 0.3, 0.1))
        self.electrons = np.array([ELEMENTS[name][0] for name in names], dtype=float)
        self.widths = np.array([ELEMENTS[name][1] for name in names])
        self.edges = rng.uniform(7, 14, 3)
        self.indices = rng.integers(-9, 10, (REFLECTIONS, 3))
        self.indices[np.all(self.indices == 0, axis=1)] = (1, 0, 0)

    def resolutions(self):
        """(sin theta / lambda) squared of each reflection."""
        return np.sum((self.indices / self.edges) ** 2, axis=1) / 4

    def unscaled(self):
        """Structure factors of atoms at rest."""
        phases = np.exp(2j * np.pi * (self.indices @ self.positions.T))
        scattering = self.electrons * np.exp(-self.resolutions()[:, None] * self.widths)
        return np.abs(np.sum(scattering * phases, axis=1))


def measure(crystal, rng):
    """Intensities with counting noise, for an unknown scale and an unknown thermal motion."""
    scale, motion = rng.uniform(0.5, 3), rng.uniform(1, 6)
    true = scale * crystal.unscaled() * np.exp(-motion * crystal.resolutions())
    sigmas = 0.02 * true + 0.3
    return np.abs(true + rng.normal(0, 1, len(true)) * sigmas), sigmas


def fit(crystal, amplitudes, sigmas):
    squares = crystal.resolutions()

    def misfit(values):
        calculated = values[0] * crystal.unscaled() * np.exp(-values[1] * squares)  # waste: load
        return (calculated - amplitudes) / sigmas

    return optimize.least_squares(misfit, (1.0, 3.0), method="lm").x


def fit_fixed(crystal, amplitudes, sigmas):
    squares, at_rest = crystal.resolutions(), crystal.unscaled()

    def misfit(values):
        calculated = values[0] * at_rest * np.exp(-values[1] * squares)
        return (calculated - amplitudes) / sigmas

    return optimize.least_squares(misfit, (1.0, 3.0), method="lm").x


def r_factor(crystal, amplitudes, scale, motion):
    calculated = scale * crystal.unscaled() * np.exp(-motion * crystal.resolutions())
    return float(np.sum(np.abs(calculated - amplitudes)) / np.sum(amplitudes))


def shells(crystal, amplitudes, count=8):
    """Mean amplitude by shells of resolution, with as many reflections in each."""
    order = np.argsort(crystal.resolutions(), kind="stable")
    return [float(part.mean()) for part in np.array_split(amplitudes[order], count)]


def work(crystals, fitting):
    rng, rows = np.random.default_rng(618), []
    for _ in range(crystals):
        crystal = Crystal(rng)
        amplitudes, sigmas = measure(crystal, rng)
        scale, motion = fitting(crystal, amplitudes, sigmas)
        part = r_factor(crystal, amplitudes, scale, motion)
        rows.append([round(scale, 6), round(motion, 6), round(part, 6), *shells(crystal, amplitudes)])
    return rows


if __name__ == "__main__":
    harness.main(lambda n: work(n, fit), lambda n: work(n, fit_fixed), repeats=800)
