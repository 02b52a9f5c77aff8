# SPDX-License-Identifier: Apache-2.0
"""Which buoys are in a lake? The shore's edges and their slopes are made again for each buoy."""

import numpy as np

import harness

CATEGORY = "loop-invariant computation"
KIND = "store"
CORNERS = 6000


def shore(rng):
    """A closed line around the origin, with bays."""
    angle = np.linspace(0.0, 2.0 * np.pi, CORNERS, endpoint=False)
    radius = 10.0 + sum(rng.normal(scale=2.0 / k) * np.sin(k * angle + rng.uniform(0.0, 6.28)) for k in range(1, 40))
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def is_inside(edges, x, y):
    """Does a ray to the right cross an odd number of edges?"""
    x0, y0, y1, slopes = edges
    crossed = ((y0 > y) != (y1 > y)) & (x < (y - y0) * slopes + x0)
    return np.count_nonzero(crossed) % 2 == 1


def edges_of(line):
    following = np.roll(line, -1, axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = (following[:, 0] - line[:, 0]) / (following[:, 1] - line[:, 1])
    return line[:, 0].copy(), line[:, 1].copy(), following[:, 1].copy(), slopes


def inside(line, buoys):
    found = []
    for x, y in buoys:
        edges = edges_of(line)  # waste: store
        found.append(is_inside(edges, x, y))
    return np.array(found)


def inside_fixed(line, buoys):
    edges = edges_of(line)
    return np.array([is_inside(edges, x, y) for x, y in buoys])


def work(repeats, test):
    rng = np.random.default_rng(720)
    found = []
    for _ in range(repeats):
        buoys = rng.uniform(-14.0, 14.0, size=(500, 2))
        kept = buoys[test(shore(rng), buoys)]
        found.append([len(kept), *kept.mean(axis=0)])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, inside), lambda n: work(n, inside_fixed), repeats=190)
