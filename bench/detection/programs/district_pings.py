# SPDX-License-Identifier: Apache-2.0
"""In which district do scooters stand? Each of their pings is tested against a district's border on its own."""

import numpy as np
from matplotlib.path import Path

import harness

CATEGORY = "API misuse"
KIND = "load"
CORNERS, PINGS = 60, 400


def border(rng, centre):
    """A closed border with bays around the centre of a district."""
    angle = np.linspace(0.0, 2.0 * np.pi, CORNERS)
    radius = 1.5 + 0.4 * np.sin(5 * angle + rng.uniform(0.0, 6.28)) + 0.2 * np.cos(11 * angle)
    return Path(centre + radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]))


def city(rng):
    return {f"district {k}": border(rng, np.array([k % 3, k // 3]) * 3.2) for k in range(9)}


def within(district, pings):
    return np.array([district.contains_point(ping) for ping in pings])  # waste: load


def within_fixed(district, pings):
    return district.contains_points(pings)


def fleet(rng, hour):
    """Most scooters are near the stations."""
    stations = rng.uniform(0.0, 6.4, size=(12, 2))
    spread = 0.3 + 0.05 * (hour % 24)
    return stations[rng.integers(12, size=PINGS)] + rng.normal(scale=spread, size=(PINGS, 2))


def work(repeats, test):
    rng = np.random.default_rng(1900)
    districts = city(rng)
    found = []
    for hour in range(repeats):
        pings = fleet(rng, hour)
        for district in districts.values():
            inside = test(district, pings)
            found.append([inside.sum(), *pings[inside].sum(axis=0)])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, within), lambda n: work(n, within_fixed), repeats=420)
