# SPDX-License-Identifier: Apache-2.0
"""Rings of powder in X-ray pictures; the distance of each pixel to the centre is computed anew for each picture."""

import numpy as np

import harness

CATEGORY = "loop-invariant computation"
KIND = "store"
SHAPE, CENTRE = (360, 400), (171.3, 208.9)


def pictures(rng, count):
    """What the detector counted: a few rings on a background that falls outwards."""
    base = 400.0 * np.exp(-np.linspace(0.0, 3.0, SHAPE[0]))[:, None] * np.ones(SHAPE[1])
    for number in range(count):
        counts = rng.integers(0, 20, size=SHAPE) + base
        counts[number % SHAPE[0]] += 50.0
        yield counts


def peaks(curve):
    inner = curve[1:-1]
    return np.flatnonzero((inner > curve[:-2]) & (inner > curve[2:]))


def analyse(film):
    found = []
    for counts in film:
        y, x = np.indices(counts.shape)  # waste: store
        distances = np.sqrt((y - CENTRE[0]) ** 2 + (x - CENTRE[1]) ** 2)  # waste: store
        rings = distances.astype(np.intp).ravel()  # waste: store
        sizes = np.bincount(rings)  # waste: store
        curve = np.bincount(rings, weights=counts.ravel()) / sizes
        found.append([curve.mean(), curve.max(), len(peaks(curve))])
    return found


def analyse_fixed(film):
    y, x = np.indices(SHAPE)
    rings = np.sqrt((y - CENTRE[0]) ** 2 + (x - CENTRE[1]) ** 2).astype(np.intp).ravel()
    sizes, found = np.bincount(rings), []
    for counts in film:
        curve = np.bincount(rings, weights=counts.ravel()) / sizes
        found.append([curve.mean(), curve.max(), len(peaks(curve))])
    return found


def work(repeats, look):
    return look(pictures(np.random.default_rng(413), repeats))


if __name__ == "__main__":
    harness.main(lambda n: work(n, analyse), lambda n: work(n, analyse_fixed), repeats=1500)
