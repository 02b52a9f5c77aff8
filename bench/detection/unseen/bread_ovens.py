# SPDX-License-Identifier: Apache-2.0
"""A tunnel oven: heat and moisture of loaves on the belt, by a grid of the loaf's cross section, with numexpr."""

import numexpr
import numpy as np

import harness

# The crust's share depends on the place within the loaf alone, and is evaluated at each step: loop-invariant.
CATEGORY = "loop-invariant computation"
KIND = "store"
GRID = 64
STEP = 0.4
CRUST = "1 / (1 + exp((sqrt((x / wide) ** 2 + (y / high) ** 2) - 0.85) / -0.04)) + 0.1 * exp(-((y + high) / 0.02) ** 2)"


class Loaf:
    def __init__(self, rng):
        self.wide, self.high = float(rng.uniform(0.8, 0.95)), float(rng.uniform(0.5, 0.8))
        edge = np.linspace(-1, 1, GRID)
        self.x, self.y = (part.copy() for part in np.meshgrid(edge, edge))
        inside = (self.x / self.wide) ** 2 + (self.y / self.high) ** 2 < 1
        self.inside = inside.astype(float)
        self.heat = np.full((GRID, GRID), 28.0)
        self.water = np.where(inside, 0.42 + rng.normal(0, 0.005, (GRID, GRID)), 0.0)

    def crust(self):
        """How much of a cell is crust, from the outline and the tin below."""
        return numexpr.evaluate(CRUST, {"x": self.x, "y": self.y, "wide": self.wide, "high": self.high})

    def spread(self):
        """Differences of the temperature to the four neighbours."""
        heat = self.heat
        change = -4 * heat
        change[1:] += heat[:-1]
        change[:-1] += heat[1:]
        change[:, 1:] += heat[:, :-1]
        change[:, :-1] += heat[:, 1:]
        return change

    def bake(self, air, crust):
        names = {"heat": self.heat, "water": self.water, "change": self.spread(), "crust": crust, "air": air,
                 "inside": self.inside, "step": STEP}
        steam = numexpr.evaluate("inside * water * where(heat > 96, 0.002 * (heat - 96), 0) * step", names)
        names["steam"] = steam
        self.heat = numexpr.evaluate(
            "inside * (heat + step * (0.3 * change + 0.02 * crust * (air - heat)) - 500 * steam)"
            " + (1 - inside) * air", names)
        self.water = numexpr.evaluate("water - steam", names)


def zones(rng):
    """Air along the tunnel: hot first, then milder."""
    length = int(rng.integers(90, 120))
    return 250 - 60 * np.linspace(0, 1, length) + rng.normal(0, 2, length)


def tunnel(loaf, air):
    for degrees in air.tolist():
        loaf.bake(degrees, loaf.crust())  # waste: store
    return loaf


def tunnel_fixed(loaf, air):
    crust = loaf.crust()
    for degrees in air.tolist():
        loaf.bake(degrees, crust)
    return loaf


def quality(loaf):
    """Core and crust: temperatures, loss of water, and how much of the loaf is done."""
    inside = loaf.inside > 0
    heat, water = loaf.heat[inside], loaf.water[inside]
    core = loaf.heat[GRID // 2 - 2:GRID // 2 + 2, GRID // 2 - 2:GRID // 2 + 2].mean()
    return [round(float(value), 6) for value in (core, heat.max(), heat.mean(), water.mean(), (heat > 60).mean())]


def work(loaves, tunnelling):
    numexpr.set_num_threads(1)
    rng = np.random.default_rng(7113)
    return [quality(tunnelling(Loaf(rng), zones(rng))) for _ in range(loaves)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, tunnel), lambda n: work(n, tunnel_fixed), repeats=260)
