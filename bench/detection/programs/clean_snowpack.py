# SPDX-License-Identifier: Apache-2.0
"""Snow in a range of hills: heat flows through the layers of each cell of the map; melt runs out below."""

import numpy as np

import harness

LAYERS, CELLS = 20, 1200
HOUR = 3600.0
STEP = 600.0
CONDUCTIVITY, HEAT_CAPACITY, FUSION = 0.35, 2100.0, 334000.0


class Pack:
    """Temperatures below zero and water by layer; the first index is the layer, so that a layer is contiguous."""

    def __init__(self, rng):
        self.depth = rng.uniform(0.06, 0.12, CELLS)
        self.density = rng.uniform(220, 420, CELLS)
        self.slope = rng.uniform(0, 1, CELLS)
        self.cold = np.linspace(-6, -1, LAYERS)[:, None] + rng.normal(0, 0.3, (LAYERS, CELLS))
        np.minimum(self.cold, 0, out=self.cold)
        self.mass = np.full((LAYERS, CELLS), self.depth * self.density)  # a kilogram of it is dust that does not melt
        self.flow = np.empty((LAYERS + 1, CELLS))
        self.energy = np.empty((LAYERS, CELLS))
        self.rate = CONDUCTIVITY / self.depth * (STEP / HEAT_CAPACITY)

    def step(self, air, sun):
        flow, energy = self.flow, self.energy
        np.subtract(air, self.cold[0], out=flow[0])
        flow[0] *= 12.0 * STEP / HEAT_CAPACITY
        flow[0] += self.slope * (sun * 0.3 * STEP / HEAT_CAPACITY)
        np.subtract(self.cold[:-1], self.cold[1:], out=flow[1:-1])
        flow[1:-1] *= self.rate
        flow[-1] = 0.0
        np.subtract(flow[:-1], flow[1:], out=energy)
        energy /= self.mass
        self.cold += energy
        return self.melt()

    def melt(self):
        """Heat above zero melts snow, of which the water leaves."""
        warm = np.maximum(self.cold, 0, out=self.energy)
        self.cold -= warm
        warm *= self.mass
        warm *= HEAT_CAPACITY / FUSION
        np.minimum(warm, np.subtract(self.mass, 1.0, out=self.flow[:-1]), out=warm)
        self.mass -= warm
        return warm.sum(axis=0)


def weather(hour, rng):
    day = np.sin(2 * np.pi * (hour % 24 - 8) / 24)
    return 1.5 + hour / 200 + 6 * day + float(rng.normal(0, 0.5)), 600 * max(0.0, day)


def work(hours):
    rng, rows = np.random.default_rng(631), []
    pack, river = Pack(rng), np.zeros(CELLS)
    for hour in range(hours):
        air, sun = weather(hour, rng)
        for _ in range(round(HOUR / STEP)):
            river += pack.step(air, sun)
        if hour % 6 == 5:
            rows.append([pack.mass.sum() / CELLS, river.mean(), river.max(), pack.cold[0].mean()])
    return np.round(rows + [[pack.mass.sum() / CELLS, river.mean(), river.max(), pack.cold[-1].mean()]], 6)


if __name__ == "__main__":
    harness.main(work, repeats=36000)
