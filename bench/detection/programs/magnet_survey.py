# SPDX-License-Identifier: Apache-2.0
"""A search for buried iron: candidates are moved one by one, and the field of all fixed bodies is evaluated again."""

import numexpr as ne
import numpy as np

import harness

# What the known pipes and drums do to the magnetometer is the same for each candidate: loop-invariant computation.
CATEGORY = "loop-invariant computation"
KIND = "store"
ne.set_num_threads(1)

axis = np.linspace(-20.0, 20.0, 160)
x, y = np.meshgrid(axis, axis)

DIPOLE = "m * (2.0 * d**2 - (x - a)**2 - (y - b)**2) / ((x - a)**2 + (y - b)**2 + d**2)**2.5"


def field_of(body):
    a, b, d, m = body
    return ne.evaluate(DIPOLE, {"x": x, "y": y, "a": a, "b": b, "d": d, "m": m})  # waste: store


def background(known):
    total = np.zeros_like(x)
    for body in known:
        total += field_of(body)  # waste: store
    return total


def misfit(measured, known, body):
    model = background(known) + field_of(body)  # waste: store
    return float(np.abs(measured - model).sum())


def search(rng, measured, known, tries):
    """Random steps from the best so far, smaller and smaller."""
    best = np.array([0.0, 0.0, 2.0, 50.0])
    lowest = misfit(measured, known, best)
    for number in range(tries):
        step = rng.normal(size=4) * (4.0, 4.0, 0.6, 20.0) / (1.0 + number / 20.0)
        trial = best + step
        trial[2] = max(trial[2], 0.5)
        score = misfit(measured, known, trial)
        if score < lowest:
            best, lowest = trial, score
    return best, lowest


def search_fixed(rng, measured, known, tries):
    remaining = measured - background(known)
    best = np.array([0.0, 0.0, 2.0, 50.0])
    score_of = lambda body: float(np.abs(remaining - field_of(body)).sum())  # noqa: E731
    lowest = score_of(best)
    for number in range(tries):
        step = rng.normal(size=4) * (4.0, 4.0, 0.6, 20.0) / (1.0 + number / 20.0)
        trial = best + step
        trial[2] = max(trial[2], 0.5)
        score = score_of(trial)
        if score < lowest:
            best, lowest = trial, score
    return best, lowest


def work(fields, find):
    rng, found = np.random.default_rng(61), []
    for _ in range(fields):
        known = np.column_stack([rng.uniform(-18, 18, (3, 2)), rng.uniform(1, 4, 3), rng.uniform(10, 90, 3)])
        hidden = np.array([*rng.uniform(-15, 15, 2), rng.uniform(1, 3), rng.uniform(20, 80)])
        measured = background(known) + field_of(hidden) + rng.normal(0.0, 0.05, size=x.shape)
        found.append(find(rng, measured, known, 150)[1])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, search), lambda n: work(n, search_fixed), repeats=24)
