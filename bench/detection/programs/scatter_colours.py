# SPDX-License-Identifier: Apache-2.0
"""Maps of measuring points, each point's colour asked for by itself."""

import io

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import Normalize

import harness

CATEGORY = "API misuse"
KIND = "load"


def colours(values, cmap, norm):
    found = []
    for value in values:
        found.append(cmap(norm(value)))  # waste: load
    return found


def colours_fixed(values, cmap, norm):
    return cmap(norm(values))


def draw(points, values, colour):
    cmap, norm = matplotlib.colormaps["viridis"], Normalize(values.min(), values.max())
    shades = colour(values, cmap, norm)
    figure, axes = plt.subplots(figsize=(5, 4), dpi=60)
    axes.scatter(points[:, 0], points[:, 1], c=shades, s=2, marker=",", linewidths=0)
    file = io.BytesIO()
    figure.savefig(file, format="raw")
    plt.close(figure)
    return np.frombuffer(file.getvalue(), dtype=np.uint8).mean()


def work(repeats, colour):
    rng = np.random.default_rng(14)
    means = []
    for _ in range(repeats):
        points = rng.normal(size=(5000, 2))
        means.append(draw(points, np.sin(points).sum(axis=1), colour))
    return means


if __name__ == "__main__":
    harness.main(lambda n: work(n, colours), lambda n: work(n, colours_fixed), repeats=27)
