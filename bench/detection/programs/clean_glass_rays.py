# SPDX-License-Identifier: Apache-2.0
"""Sharpness of random lenses: bundles of rays are bent by one surface after the other; every lens is new."""

import dataclasses

import numpy as np

import harness

RAYS = 4_000


@dataclasses.dataclass
class Surface:
    """A sphere through the axis at `place`; glass of `index` lies behind it."""

    place: float
    radius: float
    index: float

    def meet(self, points, directions):
        """Where the rays meet the sphere, and its normals there."""
        centre = np.array([self.place + self.radius, 0.0, 0.0])
        offset = points - centre
        along = np.einsum("ij,ij->i", offset, directions)
        inside = along**2 - np.einsum("ij,ij->i", offset, offset) + self.radius**2
        length = -along - np.sign(self.radius) * np.sqrt(np.maximum(inside, 0.0))
        met = points + length[:, None] * directions
        return met, (met - centre) / self.radius


def bend(directions, normals, ratio):
    """Snell's law, in vectors."""
    cosine = -np.einsum("ij,ij->i", directions, normals)
    root = np.sqrt(np.maximum(1.0 - ratio**2 * (1.0 - cosine**2), 0.0))
    bent = ratio * directions + (ratio * cosine - root)[:, None] * normals
    return bent / np.linalg.norm(bent, axis=1, keepdims=True)


def lens(rng):
    place = 0.0
    for index in (rng.uniform(1.5, 1.8), 1.0, rng.uniform(1.5, 1.8), 1.0):
        front = index > 1.0
        yield Surface(place, rng.uniform(60, 140) * (1 if front else -1), index)
        place += rng.uniform(3, 6)


def bundle(rng, field):
    """Parallel rays through a round opening, tilted by `field`."""
    distance, turn = 9.0 * np.sqrt(rng.random(RAYS)), 2 * np.pi * rng.random(RAYS)
    points = np.column_stack([np.full(RAYS, -20.0), distance * np.cos(turn), distance * np.sin(turn)])
    return points, np.tile([np.cos(field), np.sin(field), 0.0], (RAYS, 1))


def blur(points, directions):
    """The smallest spread of the rays across the axis, and where it is."""
    slope = directions[:, 1:] / directions[:, :1]
    start = points[:, 1:] - points[:, :1] * slope
    start, slope = start - start.mean(axis=0), slope - slope.mean(axis=0)
    place = -(start * slope).sum() / (slope**2).sum()
    return np.sqrt(((start + place * slope) ** 2).sum(axis=1).mean()), place


def trace(rng, surfaces, field):
    points, directions = bundle(rng, field)
    before = 1.0
    for surface in surfaces:
        points, normals = surface.meet(points, directions)
        directions = bend(directions, normals, before / surface.index)
        before = surface.index
    return blur(points, directions)


def work(repeats):
    rng = np.random.default_rng(1621)
    found = []
    for _ in range(repeats):
        surfaces = list(lens(rng))
        found.append(np.concatenate([trace(rng, surfaces, field) for field in rng.uniform(0.0, 0.1, size=3)]))
    return found


if __name__ == "__main__":
    harness.main(work, repeats=700)
