# SPDX-License-Identifier: Apache-2.0
"""Soil moisture of a catchment: a bucket model that visits each cell of the grid in turn, day after day."""

import numpy as np

import harness

# The cells of one day do not depend on each other, so whole slices of the grids could take part in one operation;
# what varies from day to day is only the store. One element at a time: slice underutilization.
CATEGORY = "slice underutilization"
KIND = "load"
ROWS, COLUMNS = 37, 53


def smooth(rng, rows, columns):
    """A field between 0 and 1 without jumps."""
    field = rng.random((rows + 6, columns + 6))
    for axis in (0, 1):
        field = sum(np.roll(field, shift, axis) for shift in range(-3, 4)) / 7.0
    field = field[3:-3, 3:-3]
    return (field - field.min()) / (field.max() - field.min())


class Weather:
    """Rain comes as the radar delivers it: tenths of a millimetre in 16 bits."""

    def __init__(self, rng):
        self.rng = rng
        self.height = smooth(rng, ROWS, COLUMNS)

    def rain(self):
        if self.rng.random() < 0.6:
            return np.zeros((ROWS, COLUMNS), dtype=np.uint16)
        amount = self.rng.gamma(0.7, 90.0) * (0.4 + self.height)
        return (amount * self.rng.uniform(0.7, 1.3, size=self.height.shape)).astype(np.uint16)

    def evaporation(self, day):
        season = 2.4 - 1.9 * np.cos(2.0 * np.pi * (day - 10) / 365.0)
        return season * (1.1 - 0.5 * self.height)


class Catchment:
    def __init__(self, rng):
        self.capacity = 60.0 + 90.0 * smooth(rng, ROWS, COLUMNS)
        self.leak = 0.004 + 0.006 * smooth(rng, ROWS, COLUMNS)
        self.store = 0.5 * self.capacity

    def step(self, rain, evaporation):
        """Moves the store by one day; the water that runs off."""
        runoff = np.zeros(self.store.shape)
        for row in range(ROWS):
            for column in range(COLUMNS):
                wet = self.store[row, column] / self.capacity[row, column]  # waste: load
                water = self.store[row, column] + rain[row, column] / 10.0  # waste: load
                water -= evaporation[row, column] * min(1.0, 1.6 * wet)  # waste: load
                seep = self.leak[row, column] * max(water, 0.0)  # waste: load
                water = max(water - seep, 0.0)
                surplus = max(water - self.capacity[row, column], 0.0)  # waste: load
                self.store[row, column] = water - surplus  # waste: load
                runoff[row, column] = surplus + seep  # waste: load
        return runoff

    def step_fixed(self, rain, evaporation):
        wet = self.store / self.capacity
        water = self.store + rain / 10.0 - evaporation * np.minimum(1.0, 1.6 * wet)
        seep = self.leak * np.maximum(water, 0.0)
        water = np.maximum(water - seep, 0.0)
        surplus = np.maximum(water - self.capacity, 0.0)
        self.store = water - surplus
        return surplus + seep


def gauge(runoff, reservoir):
    """The flow at the outlet, slowed down by the channel."""
    reservoir += runoff.sum() * 1e-3
    flow = 0.2 * reservoir
    return flow, reservoir - flow


def work(days, step):
    rng = np.random.default_rng(1911)
    weather, catchment, reservoir = Weather(rng), Catchment(rng), 0.0
    flows = []
    for day in range(days):
        runoff = step(catchment, weather.rain(), weather.evaporation(day))
        flow, reservoir = gauge(runoff, reservoir)
        flows.append(flow)
    return np.concatenate([flows, catchment.store.mean(axis=1)])


if __name__ == "__main__":
    harness.main(lambda n: work(n, Catchment.step), lambda n: work(n, Catchment.step_fixed), repeats=1300)
