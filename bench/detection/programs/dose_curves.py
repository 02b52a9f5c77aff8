# SPDX-License-Identifier: Apache-2.0
"""Radiation planning: depth doses come from splines of measured curves, one point of the phantom for each call."""

import numpy as np
from scipy.interpolate import CubicSpline

import harness

# A spline takes an array of depths: repeated native calls.
CATEGORY = "repeated native calls"
KIND = "load"
SIZE = 26
VOXEL = 0.6
ENERGIES = (6, 10, 15)


def measured(energy):
    """A depth dose curve as a water tank gives it."""
    depth = np.linspace(0, 40, 161)
    build_up = 1 - np.exp(-depth * (3.2 - 0.08 * energy))
    return CubicSpline(depth, 100 * build_up * np.exp(-depth * (0.062 - 0.0016 * energy)))


class Beam:
    def __init__(self, energy, angle, half_width):
        self.energy, self.half_width = energy, half_width
        self.curve = CURVES[energy]
        self.along = np.array([np.cos(angle), np.sin(angle)])
        self.across = np.array([-np.sin(angle), np.cos(angle)])

    def place(self, points):
        """Depth along the beam and distance from its axis."""
        return points @ self.along + SIZE * VOXEL * 0.75, np.abs(points @ self.across)


CURVES = {energy: measured(energy) for energy in ENERGIES}


def doses(beam, depths):
    found = np.zeros(len(depths))
    for number, depth in enumerate(depths):
        found[number] = beam.curve(depth)  # waste: load
    return found


def doses_fixed(beam, depths):
    return beam.curve(depths)


def phantom():
    axis = (np.arange(SIZE) - SIZE / 2 + 0.5) * VOXEL
    x, y = np.meshgrid(axis, axis, indexing="ij")
    return np.stack([x.ravel(), y.ravel()], axis=1)


def penumbra(distance, half_width):
    return 0.5 * (1 - np.tanh((distance - half_width) / 0.35))


def plan(rng, points, dosing):
    total = np.zeros(len(points))
    for _ in range(int(rng.integers(3, 6))):
        beam = Beam(ENERGIES[int(rng.integers(3))], float(rng.uniform(0, 2 * np.pi)), float(rng.uniform(1.5, 4)))
        depths, distances = beam.place(points)
        open_part = distances < beam.half_width + 1.5
        total[open_part] += dosing(beam, depths[open_part]) * penumbra(distances[open_part], beam.half_width)
    return total


def histogram(dose, organ):
    """Cumulative volumes above 20, 50 and 95 per cent of the largest dose."""
    inside = dose[organ]
    return [float(np.mean(inside >= part * dose.max())) for part in (0.2, 0.5, 0.95)]


def work(plans, dosing):
    rng = np.random.default_rng(614)
    points, rows = phantom(), []
    for _ in range(plans):
        centre = rng.uniform(-3, 3, 2)
        organ = np.hypot(*(points - centre).T) < 2.4
        dose = plan(rng, points, dosing)
        rows.append([*histogram(dose, organ), *histogram(dose, ~organ), round(float(dose[organ].mean()), 6)])
    return rows


if __name__ == "__main__":
    harness.main(lambda n: work(n, doses), lambda n: work(n, doses_fixed), repeats=1000)
