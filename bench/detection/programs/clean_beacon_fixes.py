# SPDX-License-Identifier: Apache-2.0
"""Trolleys of a warehouse are located by radio beacons: all ranges of a second are solved at once by Gauss-Newton."""

import numpy as np

import harness

HALL = np.array([60.0, 40.0])
BEACONS, TROLLEYS = 8, 900
STEPS = 3


class Hall:
    def __init__(self, rng):
        edge = np.linspace(0, 2 * np.pi, BEACONS, endpoint=False) + rng.uniform(0, 0.3)
        self.beacons = HALL / 2 + np.stack([np.cos(edge), np.sin(edge)], axis=1) * HALL * 0.48
        self.bias = rng.normal(0, 0.05, BEACONS)


def drive(rng, places, speeds):
    """One second of all trolleys; they turn back at the walls."""
    speeds += rng.normal(0, 0.08, speeds.shape)
    np.clip(speeds, -2.0, 2.0, out=speeds)
    places += speeds
    out = (places < 1) | (places > HALL - 1)
    speeds[out] *= -1
    np.clip(places, 1, HALL - 1, out=places)


def ranges(rng, hall, places):
    """A row for each beacon, a column for each trolley."""
    dx, dy = places[:, 0] - hall.beacons[:, 0, None], places[:, 1] - hall.beacons[:, 1, None]
    true = np.sqrt(dx * dx + dy * dy)
    heard = rng.random(true.shape) < 1.1 - true / 90
    return true + hall.bias[:, None] + rng.normal(0, 0.12, true.shape), heard


def solve(hall, measured, heard, start):
    """Two unknowns a trolley: the normal equations are written out, and solved by hand for all of them."""
    fixes = start.copy()
    for _ in range(STEPS):
        dx = fixes[:, 0] - hall.beacons[:, 0, None]
        dy = fixes[:, 1] - hall.beacons[:, 1, None]
        distance = np.sqrt(dx * dx + dy * dy)
        rest = (measured - distance) * heard
        weight = heard / np.maximum(distance, 0.1)
        ux, uy = dx * weight, dy * weight
        xx, xy, yy = (np.einsum("bt,bt->t", *pair) for pair in ((ux, ux), (ux, uy), (uy, uy)))
        xr, yr = np.einsum("bt,bt->t", ux, rest), np.einsum("bt,bt->t", uy, rest)
        xx += 1e-6
        yy += 1e-6
        determinant = xx * yy - xy * xy
        fixes[:, 0] += (yy * xr - xy * yr) / determinant
        fixes[:, 1] += (xx * yr - xy * xr) / determinant
    return fixes


def crowded(fixes, size=4):
    """Largest number of trolleys in one square of the floor."""
    cells = np.clip(fixes // size, 0, HALL // size - 1).astype(int)
    return int(np.bincount(cells[:, 0] * int(HALL[1] // size) + cells[:, 1]).max())


def work(seconds):
    rng = np.random.default_rng(627)
    hall, rows = Hall(rng), []
    places = rng.uniform(2, 38, (TROLLEYS, 2))
    speeds = rng.normal(0, 0.5, (TROLLEYS, 2))
    fixes = places.copy()
    for _ in range(seconds):
        drive(rng, places, speeds)
        measured, heard = ranges(rng, hall, places)
        fixes = solve(hall, measured, heard, fixes)
        error = np.hypot(*(fixes - places).T)
        rows.append([round(float(np.median(error)), 6), float(np.mean(error < 1)), crowded(fixes)])
    return rows


if __name__ == "__main__":
    harness.main(work, repeats=6500)
