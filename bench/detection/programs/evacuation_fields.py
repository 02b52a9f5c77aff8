# SPDX-License-Identifier: Apache-2.0
"""People leave halls by the nearest exit; who asks for the way has the distances of the whole plan computed."""

import numpy as np
from scipy import ndimage

import harness

# Walls and exits stay while a hall empties, and so do the distances to each exit: repeated native calls.
CATEGORY = "repeated native calls"
KIND = "store"
SIDE = 72
MOVES = np.array([(0, 0), (0, 1), (1, 0), (0, -1), (-1, 0)])


class Hall:
    def __init__(self, rng):
        self.pillars = np.zeros((SIDE, SIDE), bool)
        for row, column in rng.integers(6, SIDE - 6, size=(14, 2)):
            self.pillars[row - 1:row + 2, column - 1:column + 2] = True
        self.exits = [self.door(side, rng.integers(4, SIDE - 4)) for side in range(3)]
        self.known = {}

    def door(self, side, at):
        exit_cells = np.zeros((SIDE, SIDE), bool)
        line = (exit_cells[0], exit_cells[-1], exit_cells[:, 0])[side]
        line[at - 2:at + 3] = True
        return exit_cells

    def way(self, number):
        """The distance of each cell to an exit, longer near pillars."""
        away = ndimage.distance_transform_edt(~self.exits[number])  # waste: store
        room = ndimage.distance_transform_edt(~self.pillars)  # waste: store
        return np.where(self.pillars, 1e6, away + 2.0 / (1.0 + room))  # waste: store

    def way_fixed(self, number):
        if number not in self.known:
            self.known[number] = self.way(number)
        return self.known[number]


class Group:
    """People who head for the same exit."""

    def __init__(self, rng, hall, number, count):
        free = np.argwhere(~hall.pillars[2:-2, 2:-2]) + 2
        self.number = number
        self.places = free[rng.choice(len(free), count, replace=False)]
        self.haste = rng.uniform(0.6, 1.0, count)

    def step(self, rng, field, crowd):
        around = np.clip(self.places[:, None] + MOVES, 0, SIDE - 1)
        cost = field[around[..., 0], around[..., 1]] + 0.8 * crowd[around[..., 0], around[..., 1]]
        cost += rng.uniform(0, 0.2, cost.shape)
        moves = cost.argmin(axis=1)
        moves[rng.random(len(moves)) > self.haste] = 0
        self.places = around[np.arange(len(moves)), moves]

    def leave(self, exit_cells):
        is_out = exit_cells[self.places[:, 0], self.places[:, 1]]
        self.places, self.haste = self.places[~is_out], self.haste[~is_out]
        return np.count_nonzero(is_out)


def crowd_of(groups):
    places = np.concatenate([group.places for group in groups])
    return np.bincount(places[:, 0] * SIDE + places[:, 1], minlength=SIDE * SIDE).reshape(SIDE, SIDE)


def evacuate(rng, hall, way):
    groups = [Group(rng, hall, number, 60) for number in range(3)]
    half, out = 0, 0
    for time in range(1, 71):
        for group in groups:
            group.step(rng, way(hall, group.number), crowd_of(groups))
            out += group.leave(hall.exits[group.number])
        half = time if out < 90 else half
    return [half, out, crowd_of(groups).max()]


def work(halls, way):
    rng = np.random.default_rng(102)
    return [evacuate(rng, Hall(rng), way) for _ in range(halls)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, Hall.way), lambda n: work(n, Hall.way_fixed), repeats=160)
