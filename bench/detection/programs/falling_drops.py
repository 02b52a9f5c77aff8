# SPDX-License-Identifier: Apache-2.0
"""Rain falls through dry air; drops that reached the ground or dried up are taken out of the array one by one."""

import numpy as np

import harness

CATEGORY = "inefficient algorithm"
KIND = "store"
DROPS, STEP_S = 6000, 2.0


def cloud(rng):
    """Rows of height, drift and radius in metres, metres and micrometres."""
    drops = np.empty((DROPS, 3))
    drops[:, 0] = rng.uniform(800.0, 1500.0, size=DROPS)
    drops[:, 1] = 0.0
    drops[:, 2] = rng.gamma(4.0, 150.0, size=DROPS)
    return drops


def advance(rng, drops):
    """A step in time; small drops fall slowly, drift more and dry up sooner."""
    radius = drops[:, 2]
    drops[:, 0] -= 9.0 * (1.0 - np.exp(-radius / 450.0)) * STEP_S
    drops[:, 1] += rng.normal(0.5, 1.0, size=len(drops)) * STEP_S / (1.0 + radius / 300.0)
    drops[:, 2] = np.sqrt(np.maximum(radius * radius - 900.0 * STEP_S, 0.0))


def without(drops, gone):
    for index in reversed(np.flatnonzero(gone)):
        drops = np.delete(drops, index, axis=0)  # waste: store
    return drops


def without_fixed(drops, gone):
    return drops[~gone]


def rain(rng, remove):
    """How much reaches the ground, how far it has drifted, how much dries up, and when the last drop is gone."""
    drops, fallen, far, dried, steps = cloud(rng), 0.0, 0.0, 0, 0
    while len(drops):
        advance(rng, drops)
        steps += 1
        dry, down = drops[:, 2] <= 0.0, drops[:, 0] <= 0.0
        landed = drops[down & ~dry]
        fallen += np.power(landed[:, 2] / 1000.0, 3).sum()
        far += landed[:, 1].sum()
        dried += np.count_nonzero(dry)
        drops = remove(drops, dry | down)
    return [fallen, far, dried, steps]


def work(repeats, remove):
    rng = np.random.default_rng(716)
    return [rain(rng, remove) for _ in range(repeats)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, without), lambda n: work(n, without_fixed), repeats=120)
