# SPDX-License-Identifier: Apache-2.0
"""Inspection drone: depths of a camera become points on a wall; its rays are worked out for each frame."""

import numpy as np

import harness

# The lens never changes, so its rays are the same for all frames: loop-invariant computation.
CATEGORY = "loop-invariant computation"
KIND = "load"
WIDTH, HEIGHT = 160, 120
LENS = np.array([[138.0, 0.4, 80.2], [0.0, 137.2, 59.1], [0.0, 0.0, 1.0]])
BARREL = (-0.21, 0.06)


def undistort(points, steps=8):
    """The inverse of the lens's distortion, by iteration."""
    ideal = points.copy()
    for _ in range(steps):
        square = np.sum(ideal * ideal, axis=1, keepdims=True)
        ideal = points / (1 + square * (BARREL[0] + square * BARREL[1]))
    return ideal


def rays():
    """A unit vector for each pixel."""
    u, v = np.meshgrid(np.arange(WIDTH) + 0.5, np.arange(HEIGHT) + 0.5)
    pixels = np.stack([u.ravel(), v.ravel(), np.ones(u.size)])
    flat = (np.linalg.inv(LENS) @ pixels)[:2].T
    ideal = undistort(flat)
    directions = np.concatenate([ideal, np.ones((len(ideal), 1))], axis=1)
    return directions / np.linalg.norm(directions, axis=1, keepdims=True)


def pose(number):
    """Where the drone is and how it is turned."""
    yaw, pitch = 0.25 * np.sin(number / 17), 0.1 * np.cos(number / 11)
    cy, sy, cp, sp = np.cos(yaw), np.sin(yaw), np.cos(pitch), np.sin(pitch)
    turn = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]]) @ np.array([[1, 0, 0], [0, cp, -sp], [0, sp, cp]])
    return turn, np.array([0.05 * number % 4, 1.5 + 0.2 * np.sin(number / 5), -3.0])


def depths(rng, number):
    """The sensor's frame in millimetres, with holes."""
    rows = np.linspace(0, 3, HEIGHT)[:, None]
    columns = np.linspace(0, 5, WIDTH)[None, :]
    wall = 3000 + 60 * np.sin(rows + number / 9) * np.cos(2 * columns)
    frame = wall + rng.integers(-12, 13, (HEIGHT, WIDTH))
    frame[rng.random((HEIGHT, WIDTH)) < 0.04] = 0
    return frame.astype(np.uint16)


class Wall:
    """Cells of five centimetres with the mean distance of their points."""

    def __init__(self):
        self.sums, self.counts = np.zeros((160, 220)), np.zeros((160, 220))

    def add(self, points):
        cells = np.floor(points[:, :2] * 20).astype(int) + (60, 40)
        inside = np.all((cells >= 0) & (cells < (220, 160)), axis=1)
        at = cells[inside, 1] * 220 + cells[inside, 0]
        self.counts += np.bincount(at, minlength=self.counts.size).reshape(self.counts.shape)
        self.sums += np.bincount(at, points[inside, 2], self.counts.size).reshape(self.counts.shape)

    def bulge(self):
        seen = self.counts > 3
        means = self.sums[seen] / self.counts[seen]
        return [float(seen.sum()), round(float(means.mean()), 6), round(float(np.ptp(means)), 6)]


def scan(frame, turn, place, directions):
    metres = frame.ravel() / 1000.0
    good = metres > 0
    return (directions[good] * metres[good, None]) @ turn.T + place


def work(frames):
    rng, wall, rows = np.random.default_rng(617), Wall(), []
    for number in range(frames):
        wall.add(scan(depths(rng, number), *pose(number), rays()))  # waste: load
        if number % 50 == 49:
            rows.append(wall.bulge())
    return rows + [wall.bulge()]


def work_fixed(frames):
    rng, wall, rows, directions = np.random.default_rng(617), Wall(), [], rays()
    for number in range(frames):
        wall.add(scan(depths(rng, number), *pose(number), directions))
        if number % 50 == 49:
            rows.append(wall.bulge())
    return rows + [wall.bulge()]


if __name__ == "__main__":
    harness.main(work, work_fixed, repeats=1100)
