# SPDX-License-Identifier: Apache-2.0
"""Tsunamis over a sea floor: the slope, the depth's roots and the roughness of the floor are computed at each step."""

import numpy as np

import harness

# The floor does not move while a wave runs over it: loop-invariant computation.
CATEGORY = "loop-invariant computation"
KIND = "store"
SIDE, CELL_M, GRAVITY = 120, 2000.0, 9.81


class Sea:
    def __init__(self, rng):
        y, x = np.mgrid[:SIDE, :SIDE] / SIDE
        self.depth = 4000.0 - 3800.0 * np.clip(x * 1.2 - 0.1, 0, 1) ** 1.5
        for _ in range(8):
            cx, cy, width = rng.uniform(0.1, 0.7), rng.uniform(0, 1), rng.uniform(0.02, 0.1)
            self.depth -= rng.uniform(200, 900) * np.exp(-(np.square(x - cx) + np.square(y - cy)) / width**2)
        self.depth = np.maximum(self.depth, 30.0)
        centre = rng.uniform(0.15, 0.5, 2)
        self.level = rng.uniform(2, 8) * np.exp(-(np.square(x - centre[0]) + np.square(y - centre[1])) / 0.004)
        self.east, self.north = np.zeros((SIDE, SIDE)), np.zeros((SIDE, SIDE))
        self.highest = self.level.copy()


def floor_terms(depth):
    """The depth between cells, Manning's friction, and what breaks a wave on a steep shore."""
    slope_y, slope_x = np.gradient(depth, CELL_M)
    steep = np.hypot(slope_x, slope_y)
    friction = GRAVITY * 0.025**2 / np.power(depth, 4.0 / 3.0)
    breaking = 1e-4 * np.exp(-depth / 120.0) * (1.0 + np.tanh(40.0 * steep))
    return 0.5 * (depth + np.roll(depth, -1, axis=1)), 0.5 * (depth + np.roll(depth, -1, axis=0)), friction, breaking


def step(sea, length_s, terms):
    """One step forward of the speeds, then of the level."""
    depth_x, depth_y, friction, breaking = terms
    sea.east[:, :-1] -= length_s * GRAVITY * (sea.level[:, 1:] - sea.level[:, :-1]) / CELL_M
    sea.north[:-1] -= length_s * GRAVITY * (sea.level[1:] - sea.level[:-1]) / CELL_M
    brake = 1.0 + length_s * (friction * np.hypot(sea.east, sea.north) + breaking)
    sea.east /= brake
    sea.north /= brake
    flow_x, flow_y = depth_x * sea.east, depth_y * sea.north
    sea.level[:, 1:-1] -= length_s * (flow_x[:, 1:-1] - flow_x[:, :-2]) / CELL_M
    sea.level[1:-1] -= length_s * (flow_y[1:-1] - flow_y[:-2]) / CELL_M
    np.maximum(sea.highest, sea.level, out=sea.highest)


def run(sea, steps):
    length_s = 0.4 * CELL_M / np.sqrt(GRAVITY * sea.depth.max())
    for _ in range(steps):
        terms = floor_terms(sea.depth)  # waste: store
        step(sea, length_s, terms)


def run_fixed(sea, steps):
    length_s = 0.4 * CELL_M / np.sqrt(GRAVITY * sea.depth.max())
    terms = floor_terms(sea.depth)
    for _ in range(steps):
        step(sea, length_s, terms)


def work(quakes, running):
    rng, found = np.random.default_rng(106), []
    for _ in range(quakes):
        sea = Sea(rng)
        running(sea, 150)
        coast = sea.highest[:, -12:]
        found.append([coast.max(), coast.mean(), sea.level.std(), np.hypot(sea.east, sea.north).max()])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, run), lambda n: work(n, run_fixed), repeats=75)
