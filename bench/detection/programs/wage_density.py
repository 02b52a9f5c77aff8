# SPDX-License-Identifier: Apache-2.0
"""Densities of wages by kernel estimates: each point of the curve computes the band width from all wages again."""

import numpy as np

import harness

CATEGORY = "loop-invariant computation"
KIND = "store"


def survey(rng, people):
    """Hourly wages in two groups."""
    share = rng.uniform(0.2, 0.6)
    second = rng.random(people) < share
    return np.where(second, rng.lognormal(3.4, 0.3, size=people), rng.lognormal(2.8, 0.25, size=people))


def band_width(wages):
    """Silverman's rule with the distance of the quartiles."""
    low, high = np.percentile(wages, [25, 75])
    return 0.9 * min(wages.std(), (high - low) / 1.34) * len(wages) ** -0.2


def density(wages, points):
    curve = []
    for point in points:
        width = band_width(wages)  # waste: store
        near = (point - wages) / width
        curve.append(np.exp(-0.5 * near * near).sum() / (len(wages) * width * 2.5066282746))
    return np.array(curve)


def density_fixed(wages, points):
    width = band_width(wages)
    curve = []
    for point in points:
        near = (point - wages) / width
        curve.append(np.exp(-0.5 * near * near).sum() / (len(wages) * width * 2.5066282746))
    return np.array(curve)


def modes(points, curve):
    """Where the curve has local maxima of some height."""
    inner = (curve[1:-1] > curve[:-2]) & (curve[1:-1] > curve[2:]) & (curve[1:-1] > 0.1 * curve.max())
    return points[1:-1][inner]


def work(repeats, estimate):
    rng = np.random.default_rng(1990)
    points = np.linspace(5.0, 80.0, 150)
    found = []
    for _ in range(repeats):
        curve = estimate(survey(rng, 3_000), points)
        found.append([len(modes(points, curve)), curve.max(), curve.sum() * (points[1] - points[0])])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, density), lambda n: work(n, density_fixed), repeats=140)
