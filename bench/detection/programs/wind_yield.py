# SPDX-License-Identifier: Apache-2.0
"""Yield of wind turbines: the density of the wind's speed is asked of scipy.stats for one speed at a time."""

import numpy as np
from scipy import stats

import harness

# weibull_min.pdf takes arrays, and most of a call is its checks of arguments: API misuse.
CATEGORY = "API misuse"
KIND = "load"

speeds = np.arange(0.25, 30.0, 0.5)
cut_in, rated, cut_out = 3.0, 12.5, 25.0


def power(v, peak):
    """Kilowatts at a speed of the wind."""
    if v < cut_in or v > cut_out:
        return 0.0
    if v >= rated:
        return peak
    return peak * (v**3 - cut_in**3) / (rated**3 - cut_in**3)


def annual_yield(shape, scale, peak):
    total = 0.0
    for v in speeds:
        total += power(v, peak) * stats.weibull_min.pdf(v, shape, scale=scale) * 0.5  # waste: load
    return 8.76 * total


def annual_yield_fixed(shape, scale, peak):
    density = stats.weibull_min.pdf(speeds, shape, scale=scale)
    total = 0.0
    for v, share in zip(speeds, density):
        total += power(v, peak) * share * 0.5
    return 8.76 * total


def fit(measured):
    """Shape and scale by moments, good enough for a mast of one year."""
    mean, std = measured.mean(), measured.std()
    shape = (std / mean) ** -1.086
    from scipy.special import gamma
    return shape, mean / gamma(1.0 + 1.0 / shape)


def work(sites, estimate):
    rng = np.random.default_rng(2030)
    found = []
    for _ in range(sites):
        mast = rng.uniform(6.0, 9.5) * rng.weibull(rng.uniform(1.7, 2.4), size=52_560)
        shape, scale = fit(mast)
        turbulence = np.abs(np.diff(mast)).mean() / mast.mean()
        heights = {hub: scale * (hub / 80.0) ** 0.16 for hub in (90, 120, 140)}
        yields = [estimate(shape, at_hub, 3000.0 + 5 * hub) for hub, at_hub in heights.items()]
        found.append([shape, scale, turbulence, *yields])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, annual_yield), lambda n: work(n, annual_yield_fixed), repeats=350)
