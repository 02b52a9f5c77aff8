# SPDX-License-Identifier: Apache-2.0
"""A chain of reservoirs: storage, level and outflow through a year of inflows, hour by hour."""

import math

import numpy as np
from scipy.interpolate import interp1d

import harness

# Each step makes an interpolation object for one value; np.interp is one call: API misuse.
CATEGORY = "API misuse"
KIND = "load"
HOUR = 3600.0


class Reservoir:
    """Its level by storage, as surveyed, and its gates."""

    def __init__(self, rng, number):
        self.levels = np.linspace(0, 22 + 4 * number, 18)
        areas = 2e5 * (1 + self.levels / 9) ** rng.uniform(1.1, 1.6)
        steps = np.diff(self.levels) * (areas[1:] + areas[:-1]) / 2
        self.storages = np.concatenate([[0.0], np.cumsum(steps)])
        self.crest = 0.8 * self.levels[-1]
        self.length = rng.uniform(15, 40)
        self.turbine = rng.uniform(6, 14)
        self.storage = 0.6 * self.storages[-1]
        self.spilled = 0.0
        self.energy = 0.0

    def level(self):
        return float(interp1d(self.storages, self.levels)(self.storage))  # waste: load

    def level_fixed(self):
        return float(np.interp(self.storage, self.storages, self.levels))

    def weir(self, level):
        """Over the crest, by Poleni."""
        head = level - self.crest
        return 0.0 if head <= 0 else 1.86 * self.length * head ** 1.5

    def demand(self, hour):
        """The turbine follows the day and rests in summer nights."""
        day = 0.65 + 0.35 * math.sin(2 * math.pi * (hour % 24 - 9) / 24)
        season = 0.8 + 0.2 * math.cos(2 * math.pi * hour / 8760)
        return self.turbine * day * season

    def step(self, inflow, hour, level_of):
        level = level_of(self)
        spill = self.weir(level)
        drawn = min(self.demand(hour), self.storage / HOUR) if level > 4 else 0.0
        self.energy += 9.81 * drawn * level * 0.87 / 1000
        self.spilled += spill * HOUR
        self.storage += (inflow - drawn - spill) * HOUR
        self.storage = min(max(self.storage, 0.0), float(self.storages[-1]))
        return drawn + spill


def inflows(rng, hours):
    """Rain by storms, which a chain of three linear stores delays."""
    rain = np.where(rng.random(hours) < 0.03, rng.gamma(1.5, 60, hours), 0.0)
    stores, flows = [12.0, 12.0, 12.0], []
    for amount in rain.tolist():
        out = amount * 0.3 + 4.0
        for at, rate in enumerate((0.2, 0.08, 0.05)):
            stores[at] += out
            out = rate * stores[at]
            stores[at] -= out
        flows.append(out)
    return flows


def flood_days(flows, limit):
    """Days of which the mean flow is above the limit."""
    days = np.asarray(flows[:len(flows) // 24 * 24]).reshape(-1, 24).mean(axis=1)
    return int((days > limit).sum()), float(days.max())


def work(hours, level_of):
    rng = np.random.default_rng(7105)
    chain = [Reservoir(rng, number) for number in range(3)]
    down, rows = [], []
    for hour, flow in enumerate(inflows(rng, hours)):
        for reservoir in chain:
            flow = reservoir.step(flow, hour, level_of)
        down.append(flow)
        if hour % 240 == 239:
            rows.append([round(reservoir.storage / 1e6, 6) for reservoir in chain] + [round(flow, 6), 0])
    for reservoir in chain:
        rows.append([round(reservoir.energy, 4), round(reservoir.spilled / 1e6, 5), *flood_days(down, 20), len(down)])
    return rows


if __name__ == "__main__":
    harness.main(lambda n: work(n, Reservoir.level), lambda n: work(n, Reservoir.level_fixed), repeats=90000)
