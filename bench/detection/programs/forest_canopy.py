# SPDX-License-Identifier: Apache-2.0
"""Heights of tree tops from voxels of a laser scan; the highest filled voxel of each column is sought one by one."""

import numpy as np

import harness

CATEGORY = "slice underutilization"
KIND = "load"
SIZE, LEVELS = 60, 40


def stand(rng, trees):
    """Hits of the laser in a block of forest: True where a voxel holds enough of them."""
    level = np.arange(LEVELS)
    y, x = np.mgrid[0:SIZE, 0:SIZE]
    height = np.full((SIZE, SIZE), 1.0)
    for _ in range(trees):
        row, column = rng.uniform(0, SIZE, size=2)
        crown = rng.uniform(12, 36) - rng.uniform(0.6, 1.6) * np.hypot(y - row, x - column)
        height = np.maximum(height, crown)
    hits = rng.random((SIZE, SIZE, LEVELS)) < 0.35
    return hits & (level < height[:, :, None])


def tops(voxels):
    result = np.zeros((SIZE, SIZE))
    for i in range(SIZE):
        for j in range(SIZE):
            for k in range(LEVELS - 1, -1, -1):
                if voxels[i, j, k]:  # waste: load
                    result[i, j] = k + 1
                    break
    return result


def tops_fixed(voxels):
    highest = LEVELS - np.argmax(voxels[:, :, ::-1], axis=2)
    return np.where(voxels.any(axis=2), highest, 0).astype(float)


def figures(canopy):
    """Mean height, roughness, and the share of gaps."""
    rough = np.abs(np.diff(canopy, axis=0)).mean() + np.abs(np.diff(canopy, axis=1)).mean()
    return [canopy.mean(), rough, (canopy < 3).mean()]


def work(repeats, measure):
    rng = np.random.default_rng(1713)
    return [figures(measure(stand(rng, 40))) for _ in range(repeats)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, tops), lambda n: work(n, tops_fixed), repeats=350)
