# SPDX-License-Identifier: Apache-2.0
"""Large pictures drawn by Matplotlib: a field as an image, contours and its flow as arrows."""

import io

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import harness


def draw(field):
    figure, (left, right) = plt.subplots(1, 2, figsize=(20, 10), dpi=250)
    left.imshow(field, cmap="magma", interpolation="bicubic")
    left.contour(field, levels=12, colors="white")
    down, along = np.gradient(field[::8, ::8])
    right.quiver(along, -down)
    right.plot(np.cumsum(field[::4].sum(axis=1)) / 1000.0)
    file = io.BytesIO()
    figure.savefig(file, format="raw")
    plt.close(figure)
    return np.frombuffer(file.getvalue(), dtype=np.uint8).mean()


def work(repeats):
    rng = np.random.default_rng(113)
    x, y = np.meshgrid(np.linspace(0.0, 6.0, 400), np.linspace(0.0, 6.0, 400))
    means = []
    for _ in range(repeats):
        a, b, c = rng.uniform(0.5, 2.0, size=3)
        means.append(draw(np.sin(a * x) * np.cos(b * y) + 0.2 * np.sin(c * x * y)))
    return means


if __name__ == "__main__":
    harness.main(work, repeats=13)
