# SPDX-License-Identifier: Apache-2.0
"""Where a robot in a warehouse is: a particle filter, weighted and drawn anew after each move."""

import numpy as np

import harness

PARTICLES = 1_000
BEACONS = np.array([[2.0, 3.0], [18.0, 4.0], [10.0, 17.0], [3.0, 15.0]])


class Robot:
    def __init__(self, rng):
        self.rng = rng
        self.place, self.heading = np.array([10.0, 10.0]), 0.0

    def move(self):
        """Turns and drives; returns what its wheels report."""
        turn, way = self.rng.normal(0.05, 0.2), self.rng.uniform(0.1, 0.5)
        if np.abs(self.place - 10.0).max() > 8.0:
            turn += 0.6
        self.heading += turn
        self.place = self.place + way * np.array([np.cos(self.heading), np.sin(self.heading)])
        return turn + self.rng.normal(scale=0.02), way * self.rng.normal(1.0, 0.05)

    def ranges(self):
        away = self.place - BEACONS
        return np.sqrt((away * away).sum(axis=1)) + self.rng.normal(scale=0.3, size=len(BEACONS))


def moved(rng, particles, turn, way):
    """Columns are x, y and heading."""
    heading = particles[:, 2] + turn + rng.normal(scale=0.03, size=PARTICLES)
    length = way * rng.normal(1.0, 0.08, size=PARTICLES)
    return np.stack(
        [particles[:, 0] + length * np.cos(heading), particles[:, 1] + length * np.sin(heading), heading], axis=1
    )


def weights(particles, ranges):
    away = np.hypot(particles[:, :1] - BEACONS[:, 0], particles[:, 1:2] - BEACONS[:, 1])
    logs = -0.5 * np.square((away - ranges) / 0.4).sum(axis=1)
    shares = np.exp(logs - logs.max())
    return shares / shares.sum()


def drawn(rng, particles, shares):
    marks = (rng.random() + np.arange(PARTICLES)) / PARTICLES
    return particles[np.searchsorted(np.cumsum(shares), marks).clip(max=PARTICLES - 1)]


def work(repeats):
    rng = np.random.default_rng(1921)
    robot = Robot(rng)
    particles = np.stack([*rng.uniform(0, 20, size=(2, PARTICLES)), rng.normal(size=PARTICLES)], axis=1)
    errors = []
    for _ in range(repeats):
        particles = moved(rng, particles, *robot.move())
        shares = weights(particles, robot.ranges())
        errors.append(np.linalg.norm(shares @ particles[:, :2] - robot.place))
        particles = drawn(rng, particles, shares)
    return [np.mean(errors), np.max(errors), *robot.place]


if __name__ == "__main__":
    harness.main(work, repeats=20_000)
