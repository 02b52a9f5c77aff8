# SPDX-License-Identifier: Apache-2.0
"""Takes recalled batches out of a stock list; the DataFrame is filtered and copied once for each batch number."""

import numpy as np
import pandas as pd

import harness

CATEGORY = "API misuse"
KIND = "load"


def stock(rng, rows):
    return pd.DataFrame(
        {
            "batch": rng.integers(10_000, 14_000, size=rows),
            "shelf": rng.integers(1, 400, size=rows),
            "boxes": rng.integers(1, 60, size=rows),
            "price": rng.lognormal(2.0, 0.5, size=rows).round(2),
        }
    )


def recall_notice(rng):
    """Batch numbers as the maker publishes them: some runs, some single ones."""
    numbers = set(rng.integers(10_000, 14_000, size=40).tolist())
    for start in rng.integers(10_000, 13_990, size=5).tolist():
        numbers.update(range(start, start + int(rng.integers(3, 9))))
    return sorted(numbers)


def without(frame, numbers):
    for number in numbers:
        frame = frame[frame["batch"] != number]  # waste: load
    return frame


def without_fixed(frame, numbers):
    return frame[~frame["batch"].isin(numbers)]


def figures(before, after):
    """Boxes to destroy, their value, and the shelves that become empty."""
    gone = before.drop(after.index)
    emptied = set(before["shelf"]) - set(after["shelf"])
    return [gone["boxes"].sum(), (gone["boxes"] * gone["price"]).sum(), len(emptied)]


def work(repeats, remove):
    rng = np.random.default_rng(2013)
    found = []
    for _ in range(repeats):
        frame = stock(rng, 8_000)
        found.append(figures(frame, remove(frame, recall_notice(rng))))
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, without), lambda n: work(n, without_fixed), repeats=220)
