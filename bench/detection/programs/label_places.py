# SPDX-License-Identifier: Apache-2.0
"""Labels of a crowded chart are thinned out by their places on the screen; each point is transformed by itself."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import harness

CATEGORY = "API misuse"
KIND = "load"
CELL = np.array([40.0, 12.0])  # pixels that a label takes


def screen(axes, points):
    places = []
    for x, y in points:
        places.append(axes.transData.transform((x, y)))  # waste: load
    return np.array(places)


def screen_fixed(axes, points):
    return axes.transData.transform(points)


def thinned(points, places):
    """The first point of each cell keeps its label."""
    taken, kept = set(), []
    for number, cell in enumerate(map(tuple, np.floor(places / CELL).astype(int).tolist())):
        if cell not in taken:
            taken.add(cell)
            kept.append(number)
    return [len(kept), points[kept, 0].sum()]


def work(repeats, transform):
    rng = np.random.default_rng(53)
    found = []
    for _ in range(repeats):
        points = np.column_stack([rng.normal(size=4000), rng.lognormal(sigma=1.5, size=4000)])
        figure, axes = plt.subplots(figsize=(8, 6), dpi=100)
        axes.set_yscale("log")
        axes.plot(points[:, 0], points[:, 1], ".")
        figure.canvas.draw()
        found.append(thinned(points, transform(axes, points)))
        plt.close(figure)
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, screen), lambda n: work(n, screen_fixed), repeats=13)
