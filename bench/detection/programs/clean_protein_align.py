# SPDX-License-Identifier: Apache-2.0
"""Local alignment of proteins: one row of scores after another; gaps along a row are a running maximum."""

import numpy as np

import harness

KINDS, GAP = 20, 6.0


def substitution(rng):
    """A symmetric matrix of scores that favours the same amino acid."""
    scores = rng.integers(-4, 3, size=(KINDS, KINDS)).astype(float)
    return np.triu(scores, 1) + np.triu(scores, 1).T + np.diag(rng.integers(4, 9, size=KINDS))


def relatives(rng):
    """Two proteins: the second one has mutations, and a piece of it is missing."""
    first = rng.integers(KINDS, size=rng.integers(250, 400))
    second = np.where(rng.random(len(first)) < 0.3, rng.integers(KINDS, size=len(first)), first)
    cut = rng.integers(40, len(first) - 40)
    return first, np.delete(second, slice(cut, cut + rng.integers(1, 30)))


def align(first, second, scores):
    """The best score, and where the alignment ends in either protein."""
    profile = scores[:, second]
    slant = GAP * np.arange(len(second) + 1)
    row = np.zeros(len(second) + 1)
    best, ends = 0.0, (0, 0)
    for i, kind in enumerate(first.tolist()):
        opened = row - GAP
        np.maximum(opened[1:], row[:-1] + profile[kind], out=opened[1:])
        np.maximum(opened, 0.0, out=opened)
        row = np.maximum.accumulate(opened + slant) - slant
        j = int(row.argmax())
        if row[j] > best:
            best, ends = row[j], (i, j)
    return best, *ends


def work(repeats):
    rng = np.random.default_rng(1981)
    scores = substitution(rng)
    return [align(*relatives(rng), scores) for _ in range(repeats)]


if __name__ == "__main__":
    harness.main(work, repeats=1_300)
