# SPDX-License-Identifier: Apache-2.0
"""Photographs are smoothed, their edges found and their parts counted: filters of scipy.ndimage."""

import numpy as np
from scipy import ndimage

import harness


def work(repeats):
    rng = np.random.default_rng(112)
    counts = []
    for _ in range(repeats):
        image = ndimage.gaussian_filter(rng.random((512, 512)), 2.0)
        median = ndimage.median_filter(image, size=3)
        edges = np.hypot(ndimage.sobel(median, axis=0), ndimage.sobel(median, axis=1))
        parts, number = ndimage.label(edges < np.percentile(edges, 40))
        counts.append([number, edges.mean(), np.bincount(parts.ravel())[1:].max()])
    return counts


if __name__ == "__main__":
    harness.main(work, repeats=160)
