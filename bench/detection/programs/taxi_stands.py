# SPDX-License-Identifier: Apache-2.0
"""Taxis of a city: calls of a quarter of an hour are given to near cabs; the tree of cabs is asked call by call."""

import numpy as np
from scipy.spatial import cKDTree

import harness

# The tree answers for an array of places at once: repeated native calls.
CATEGORY = "repeated native calls"
KIND = "load"
CABS, STANDS = 900, 40
NEAREST = 6
CITY = 18.0


class Fleet:
    def __init__(self, rng):
        self.stands = rng.uniform(1, CITY - 1, (STANDS, 2))
        self.places = self.stands[rng.integers(0, STANDS, CABS)] + rng.normal(0, 0.4, (CABS, 2))
        self.free_at = np.zeros(CABS)
        self.earned = np.zeros(CABS)

    def tree(self, now):
        """Of the cabs that are free; with it their numbers."""
        free = np.flatnonzero(self.free_at <= now)
        return cKDTree(self.places[free]), free

    def back_to_stands(self, now):
        idle = np.flatnonzero(self.free_at <= now - 20)
        if len(idle):
            _, near = cKDTree(self.stands).query(self.places[idle])
            self.places[idle] += 0.3 * (self.stands[near] - self.places[idle])


def calls(rng, quarter):
    """More of them in the evening, and about a few places that change."""
    count = int(220 + 160 * np.sin(quarter / 15) ** 2)
    spots = rng.uniform(2, CITY - 2, (5, 2))
    from_there = spots[rng.integers(0, 5, count)] + rng.normal(0, 1.2, (count, 2))
    return np.clip(from_there, 0, CITY), rng.uniform(0, CITY, (count, 2))


def candidates(tree, places):
    found = []
    for place in places:
        distances, numbers = tree.query(place, NEAREST)  # waste: load
        found.append((distances.tolist(), numbers.tolist()))
    return found


def candidates_fixed(tree, places):
    distances, numbers = tree.query(places, NEAREST)
    return list(zip(distances.tolist(), numbers.tolist()))


def assign(fleet, now, starts, goals, asking):
    """Each call gets the nearest cab that is still free; late calls may get none."""
    tree, free = fleet.tree(now)
    taken, waits, lost = set(), [], 0
    lengths = np.hypot(*(goals - starts).T).tolist()
    for number, (distances, near) in enumerate(asking(tree, starts)):
        for distance, at in zip(distances, near):
            if at < tree.n and at not in taken:
                break
        else:
            lost += 1
            continue
        taken.add(at)
        cab = free[at]
        waits.append(distance)
        fleet.free_at[cab] = now + 2.4 * (distance + lengths[number])
        fleet.earned[cab] += 3.5 + 2.1 * lengths[number]
        fleet.places[cab] = goals[number]
    return waits, lost


def work(quarters, asking):
    rng, rows = np.random.default_rng(637), []
    fleet = Fleet(rng)
    for quarter in range(quarters):
        starts, goals = calls(rng, quarter)
        waits, lost = assign(fleet, 15.0 * quarter, starts, goals, asking)
        fleet.back_to_stands(15.0 * quarter)
        rows.append([len(waits), lost, round(sum(waits), 6), round(max(waits, default=0.0), 6)])
    return rows + [[float(fleet.earned.max()), float(fleet.earned.min()), 0, 0]]


if __name__ == "__main__":
    harness.main(lambda n: work(n, candidates), lambda n: work(n, candidates_fixed), repeats=1000)
