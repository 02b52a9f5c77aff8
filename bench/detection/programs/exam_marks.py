# SPDX-License-Identifier: Apache-2.0
"""Standardises exam marks: within a list comprehension, the mean and deviation of the whole column are asked for."""

import numpy as np
import pandas as pd

import harness

CATEGORY = "loop-invariant computation"
KIND = "load"


def exam(rng, candidates):
    skill = rng.normal(size=candidates)
    return pd.DataFrame(
        {
            "school": rng.integers(12, size=candidates),
            "points": (50 + 15 * skill + rng.normal(scale=6, size=candidates)).clip(0, 100).round(1),
            "essay": rng.integers(0, 21, size=candidates),
        }
    )


def standard(marks):
    return pd.Series([(mark - marks.mean()) / marks.std() for mark in marks])  # waste: load


def standard_fixed(marks):
    mean, deviation = marks.mean(), marks.std()
    return pd.Series([(mark - mean) / deviation for mark in marks])


def grade(score):
    """1 (best) to 6."""
    return 6 - np.searchsorted([-1.6, -0.8, 0.0, 0.8, 1.6], score)


def work(repeats, scale):
    rng = np.random.default_rng(1788)
    found = []
    for _ in range(repeats):
        frame = exam(rng, 400)
        frame["score"] = 0.7 * scale(frame["points"]) + 0.3 * scale(frame["essay"])
        grades = grade(frame["score"])
        schools = frame.groupby("school")["score"].mean()
        found.append([grades.mean(), (grades == 1).sum(), schools.max() - schools.min()])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, standard), lambda n: work(n, standard_fixed), repeats=55)
