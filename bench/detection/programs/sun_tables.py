# SPDX-License-Identifier: Apache-2.0
"""Radiation by minute from weather stations: tables of plain numbers are read by np.genfromtxt."""

import io

import numpy as np

import harness

# genfromtxt() takes each line apart in Python, for missing values; these tables have none, loadtxt() does: API misuse.
CATEGORY = "API misuse"
KIND = "store"
MINUTES, COLUMNS = 480, 6


def station_day(rng):
    """Minute of the day; global, direct and diffuse radiation; temperature; wind."""
    minute = np.arange(MINUTES) + 480
    height = np.sin(np.pi * np.arange(MINUTES) / MINUTES)
    clouds = np.clip(np.cumsum(rng.normal(0, 0.05, MINUTES)) + 0.4, 0.0, 1.0)
    direct = 850.0 * height * (1.0 - clouds)
    diffuse = 180.0 * height * (0.4 + 0.6 * clouds)
    warmth = 12.0 + 9.0 * height + rng.normal(0, 0.1, MINUTES)
    wind = rng.gamma(2.0, 1.5, MINUTES)
    return np.column_stack([minute, direct + diffuse, direct, diffuse, warmth, wind])


def write(table, name):
    lines = [f"# station {name}", "# minute global direct diffuse temperature wind"]
    lines += [" ".join(f"{value:.2f}" for value in row) for row in table.tolist()]
    return "\n".join(lines) + "\n"


def read(text):
    return np.genfromtxt(io.StringIO(text))  # waste: store


def read_fixed(text):
    return np.loadtxt(io.StringIO(text))


class Panel:
    """A solar panel that leans towards the south."""

    def __init__(self, rng):
        self.lean = np.radians(rng.uniform(15, 50))
        self.area, self.efficiency = rng.uniform(10, 60), rng.uniform(0.16, 0.22)

    def power(self, table):
        minute, _, direct, diffuse, warmth, wind = table.T
        sun = np.pi * (minute - 480) / MINUTES
        onto = direct * np.clip(np.sin(sun + 0.3 * self.lean), 0.0, None) + diffuse * (1 + np.cos(self.lean)) / 2
        cell = warmth + onto / (25.0 + 6.8 * wind)
        return self.area * self.efficiency * onto * (1.0 - 0.004 * (cell - 25.0))


def check(table):
    """Does the sum of direct and diffuse make the whole?"""
    return np.abs(table[:, 1] - table[:, 2] - table[:, 3]).max() < 0.05


def steps(power):
    change = np.abs(np.diff(power))
    return np.quantile(change, [0.5, 0.95]).tolist()


def work(days, reader):
    rng, found = np.random.default_rng(100), []
    panels = [Panel(rng) for _ in range(3)]
    for day in range(days):
        for station in range(4):
            table = reader(write(station_day(rng), f"{station}-{day}"))
            assert check(table)
            powers = [panel.power(table) for panel in panels]
            found.append([sum(power.sum() for power in powers) / 60e3, *steps(sum(powers)), table.shape[0]])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, read), lambda n: work(n, read_fixed), repeats=1040)
