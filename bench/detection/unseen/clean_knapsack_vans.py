# SPDX-License-Identifier: Apache-2.0
"""Removal vans: of the chests that wait, those are loaded that bring most, by dynamic programming over the volume."""

import numpy as np

import harness

ROOM = 6000
PATIENCE = 24
PLACES = ("Leeds", "Derby", "Bath", "York")


class Depot:
    """Chests by destination: volume in litres, money, and the day on which they came."""

    def __init__(self, rng):
        self.rng = rng
        self.chests = {place: [] for place in PLACES}

    def arrive(self, today, count):
        rng = self.rng
        volumes = rng.integers(60, 700, count).tolist()
        money = rng.gamma(3.0, 20.0, count).round().astype(int).tolist()
        places = rng.integers(0, len(PLACES), count).tolist()
        for volume, pounds, place in zip(volumes, money, places):
            self.chests[PLACES[place]].append((volume, pounds + 5, today))

    def fullest(self):
        """Where most litres wait."""
        return max(PLACES, key=lambda place: (sum(volume for volume, _, _ in self.chests[place]), place))

    def hand_over(self, today):
        """What has waited for too long goes with another carrier; the oldest are the first of each list."""
        for chests in self.chests.values():
            while chests and today - chests[0][2] > PATIENCE:
                chests.pop(0)


class Planner:
    """Tables of a plan, with room for the most chests; they are filled anew for each van."""

    def __init__(self, most):
        self.best = np.zeros(ROOM + 1, dtype=np.int32)
        self.with_it = np.zeros(ROOM + 1, dtype=np.int32)
        self.is_taken = np.zeros((most, ROOM + 1), dtype=bool)

    def plan(self, chests, today):
        """Indices of the chests that go: a row of the table for each chest, then the way back through the rows."""
        best = self.best
        best[:] = 0
        for row, (volume, pounds, arrived) in enumerate(chests):
            upper, with_it = best[volume:], self.with_it[volume:]
            np.add(best[:-volume], pounds + 3 * (today - arrived), out=with_it)
            np.greater(with_it, upper, out=self.is_taken[row, volume:])
            np.maximum(with_it, upper, out=upper)
        return self.back(chests), int(best[ROOM])

    def back(self, chests):
        left, chosen = ROOM, []
        for row in range(len(chests) - 1, -1, -1):
            volume = chests[row][0]
            if volume <= left and self.is_taken[row, left]:
                left -= volume
                chosen.append(row)
        return chosen


def load(depot, planner, today):
    place = depot.fullest()
    chests = depot.chests[place]
    chosen, worth = planner.plan(chests, today)
    going = set(chosen)
    loaded = [chests[row] for row in chosen]
    depot.chests[place] = [chest for row, chest in enumerate(chests) if row not in going]
    volume = sum(chest[0] for chest in loaded)
    oldest = today - min((arrived for _, _, arrived in loaded), default=today)
    return [PLACES.index(place), len(loaded), volume, worth, oldest]


def work(days):
    depot, planner = Depot(np.random.default_rng(7118)), Planner(400)
    depot.arrive(0, 120)
    rows = []
    for today in range(days):
        depot.arrive(today, 18)
        rows.append(load(depot, planner, today) + [sum(map(len, depot.chests.values()))])
        depot.hand_over(today)
    return rows


if __name__ == "__main__":
    harness.main(work, repeats=21000)
