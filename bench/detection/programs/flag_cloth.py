# SPDX-License-Identifier: Apache-2.0
"""Flags in the wind for an animated film: a net of masses and springs, whose springs are walked along one by one."""

import numpy as np

import harness

# Offsets, lengths and forces of all springs are slices of whole arrays: slice underutilization.
CATEGORY = "slice underutilization"
KIND = "load"
STIFFNESS, DAMPING, STEP, MASS = 180.0, 0.6, 0.004, 0.05
GRAVITY = np.array([0.0, 0.0, -9.81])


class Flag:
    def __init__(self, rng, rows, columns):
        self.rows, self.columns = rows, columns
        x, y = np.meshgrid(np.arange(columns) * 0.1, np.arange(rows) * 0.1)
        self.places = np.stack([x, 0.002 * rng.normal(size=x.shape), y], axis=2)
        self.speeds = np.zeros_like(self.places)
        self.wind = rng.normal([4.0, 1.0, 0.0], [1.0, 2.0, 0.3])
        self.phase = rng.uniform(0, 6)

    def gust(self, time):
        return self.wind * (1.0 + 0.4 * np.sin(3.0 * time + self.phase))

    def outer_forces(self, time):
        """Weight, and the wind's push on what stands across it."""
        against = self.gust(time) - self.speeds
        return MASS * GRAVITY + 0.02 * against * np.linalg.norm(against, axis=2, keepdims=True)

    def step(self, time, springs):
        forces = self.outer_forces(time) - DAMPING * MASS * self.speeds
        springs(self, forces)
        self.speeds += STEP / MASS * forces
        self.speeds[:, 0] = 0.0  # at the pole
        self.places += STEP * self.speeds

    def energy(self):
        return 0.5 * MASS * np.square(self.speeds).sum() - MASS * (self.places @ GRAVITY).sum()


def pull(flag, forces, one, other):
    """Of one spring."""
    away = [0.0, 0.0, 0.0]
    for k in range(3):
        away[k] = flag.places[other][k] - flag.places[one][k]  # waste: load
    length = (away[0] ** 2 + away[1] ** 2 + away[2] ** 2) ** 0.5
    factor = STIFFNESS * (length - 0.1) / length
    for k in range(3):
        forces[one][k] += factor * away[k]  # waste: load
        forces[other][k] -= factor * away[k]  # waste: load


def springs(flag, forces):
    for row in range(flag.rows):
        for column in range(flag.columns):
            if column + 1 < flag.columns:
                pull(flag, forces, (row, column), (row, column + 1))
            if row + 1 < flag.rows:
                pull(flag, forces, (row, column), (row + 1, column))


def springs_fixed(flag, forces):
    for one, other in ((np.s_[:, :-1], np.s_[:, 1:]), (np.s_[:-1], np.s_[1:])):
        away = flag.places[other] - flag.places[one]
        length = np.linalg.norm(away, axis=2, keepdims=True)
        push = STIFFNESS * (length - 0.1) / length * away
        forces[one] += push
        forces[other] -= push


def work(flags, pulling):
    rng, found = np.random.default_rng(81), []
    for _ in range(flags):
        flag = Flag(rng, 6, 10)
        for number in range(60):
            flag.step(number * STEP, pulling)
        found.append([flag.energy(), flag.places[-1, -1].sum(), np.abs(flag.speeds).max()])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, springs), lambda n: work(n, springs_fixed), repeats=400)
