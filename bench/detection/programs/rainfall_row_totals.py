# SPDX-License-Identifier: Apache-2.0
"""Dry spells and totals of rain gauges; a helper walks along the days of each gauge's row one value at a time."""

import numpy as np

import harness

CATEGORY = "slice underutilization"
KIND = "load"
GAUGES, DAYS = 60, 365


def rainfall(rng):
    """Tenths of millimetres."""
    wet = rng.random((GAUGES, DAYS)) < 0.3
    return np.where(wet, rng.gamma(0.8, 60.0, size=(GAUGES, DAYS)).astype(np.int64), 0)


def year_of(rain, gauge):
    """Total, heaviest day and how many days had heavy rain."""
    total, heaviest, heavy = 0, 0, 0
    for day in range(rain.shape[1]):
        total += rain[gauge, day]  # waste: load
        if rain[gauge, day] > heaviest:  # waste: load
            heaviest = rain[gauge, day]
        if rain[gauge, day] >= 100:  # waste: load
            heavy += 1
    return total, heaviest, heavy


def year_of_fixed(rain, gauge):
    row = rain[gauge]
    return row.sum(), row.max(), np.count_nonzero(row >= 100)


def longest_dry_spell(rain):
    """Of any gauge."""
    wet_days = np.nonzero(rain.ravel())[0]
    return np.diff(wet_days).max()


def work(repeats, measure):
    rng = np.random.default_rng(107)
    found = []
    for _ in range(repeats):
        rain = rainfall(rng)
        years = np.array([measure(rain, gauge) for gauge in range(GAUGES)])
        order = np.argsort(years[:, 0], kind="stable")
        found.append([*years[order[-1]], *years[order[0]], longest_dry_spell(rain)])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, year_of), lambda n: work(n, year_of_fixed), repeats=340)
