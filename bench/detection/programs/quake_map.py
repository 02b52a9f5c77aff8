# SPDX-License-Identifier: Apache-2.0
"""Maps of earthquakes, drawn with Matplotlib: each quake is a plot of its own."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402

import harness  # noqa: E402

# scatter() draws all points, with their sizes and colours, in one call: API misuse.
CATEGORY = "API misuse"
KIND = "load"


def quakes(rng, n):
    """Places near a fault, depths and magnitudes."""
    along = rng.uniform(-3.0, 3.0, n)
    lon, lat = along + rng.normal(0.0, 0.2, n), 0.6 * along + rng.normal(0.0, 0.3, n)
    return lon, lat, rng.gamma(2.0, 9.0, n), 2.0 + rng.exponential(0.45, n)


def draw_quakes(ax, lon, lat, depth, magnitude):
    colours = plt.cm.plasma(np.clip(depth / 60.0, 0.0, 1.0))
    for i in range(len(lon)):
        ax.scatter(lon[i], lat[i], s=magnitude[i] ** 2, color=colours[i], marker="o", linewidths=0)  # waste: load


def draw_quakes_fixed(ax, lon, lat, depth, magnitude):
    colours = plt.cm.plasma(np.clip(depth / 60.0, 0.0, 1.0))
    ax.scatter(lon, lat, s=magnitude**2, color=colours, marker="o", linewidths=0)


def coast(ax):
    t = np.linspace(-3.5, 3.5, 800)
    ax.plot(t, 0.8 * np.sin(2.0 * t) + 0.4 * np.sin(7.1 * t), color="0.4", lw=0.8)
    ax.fill_between(t, -3.0, 0.8 * np.sin(2.0 * t) - 1.2, color="0.9")
    ax.set(xlim=(-3.5, 3.5), ylim=(-3.0, 3.0), xlabel="longitude", ylabel="latitude")


def page(rng, month, draw):
    fig, (left, right) = plt.subplots(1, 2, figsize=(7, 3.5), dpi=90)
    data = quakes(rng, 150)
    coast(left)
    draw(left, *data)
    left.set_title(f"Month {month}")
    right.hist(data[3], bins=np.arange(2.0, 6.0, 0.1), log=True)
    fig.canvas.draw()
    ink = 255.0 - np.asarray(fig.canvas.buffer_rgba())[..., :3].mean(axis=2)
    plt.close(fig)
    # The order of drawing decides about the last shades, so the ink is taken roughly.
    return round(ink.mean(), 1), data[3].max()


def work(months, draw):
    rng = np.random.default_rng(2011)
    return [page(rng, month, draw) for month in range(months)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, draw_quakes), lambda n: work(n, draw_quakes_fixed), repeats=20)
