# SPDX-License-Identifier: Apache-2.0
"""Delivery districts: parcels are sorted into polygons of a town, and each parcel is asked for on its own."""

import numpy as np
from matplotlib.path import Path

import harness

# The path tests all points of a district in one call: repeated native calls.
CATEGORY = "repeated native calls"
KIND = "load"
TOWN = 12.0
DISTRICTS = 9
VAN_LOAD = 120


class District:
    def __init__(self, number, rng):
        self.number = number
        self.centre = rng.uniform(2, TOWN - 2, 2)
        corners = int(rng.integers(14, 30))
        angles = np.sort(rng.uniform(0, 2 * np.pi, corners))
        radii = rng.uniform(1.4, 2.9, corners)
        ring = self.centre + np.stack([np.cos(angles), np.sin(angles)], axis=1) * radii[:, None]
        self.path = Path(np.vstack([ring, ring[:1]]), closed=True)
        self.low, self.high = ring.min(axis=0), ring.max(axis=0)

    def near(self, points):
        """Those within the box, by number."""
        inside = np.all((points >= self.low) & (points <= self.high), axis=1)
        return np.flatnonzero(inside)


def members(district, points):
    found = []
    for number in district.near(points):
        if district.path.contains_point(points[number]):  # waste: load
            found.append(int(number))
    return found


def members_fixed(district, points):
    near = district.near(points)
    return near[district.path.contains_points(points[near])].tolist()


def parcels(rng, count):
    homes = rng.uniform(0, TOWN, (count // 2, 2))
    blocks = rng.uniform(1, TOWN - 1, (12, 2))
    flats = blocks[rng.integers(0, 12, count - len(homes))] + rng.normal(0, 0.25, (count - len(homes), 2))
    return np.vstack([homes, flats]), np.round(rng.gamma(2.0, 1.7, count), 2)


def nearest_first(points, start):
    """A round: always on to the nearest parcel that is left."""
    left = points.copy()
    at, length = start, 0.0
    for size in range(len(left), 0, -1):
        gaps = np.hypot(left[:size, 0] - at[0], left[:size, 1] - at[1])
        best = int(gaps.argmin())
        length += float(gaps[best])
        at = left[best].copy()
        left[best] = left[size - 1]
    return length


def vans(weights):
    """How many vans the weights need, in the order in which the parcels came."""
    count, load = 1, 0.0
    for weight in weights:
        if load + weight > VAN_LOAD:
            count, load = count + 1, 0.0
        load += weight
    return count


def day(rng, districts, sorting):
    points, weights = parcels(rng, 2600)
    taken, rows = set(), []
    for district in districts:
        mine = [number for number in sorting(district, points) if number not in taken]
        taken.update(mine)
        round_km = nearest_first(points[mine][:60], district.centre)
        rows.append([len(mine), vans(weights[mine].tolist()), round(round_km, 6)])
    return [len(taken), *np.sum(rows, axis=0), max(row[0] for row in rows)]


def work(days, sorting):
    rng = np.random.default_rng(613)
    districts = [District(number, rng) for number in range(DISTRICTS)]
    return [day(rng, districts, sorting) for _ in range(days)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, members), lambda n: work(n, members_fixed), repeats=480)
