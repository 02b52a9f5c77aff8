# SPDX-License-Identifier: Apache-2.0
"""Greenhouse controller: decisions of a day go into a table that grows by one row at its end with each of them."""

import random

import pandas as pd

import harness

# A table is built from a list of rows in one go; a row set by its label copies all of it: API misuse.
CATEGORY = "API misuse"
KIND = "store"
COLUMNS = ["minute", "house", "temperature", "humidity", "vent", "heater", "misting"]
HOUSES = {"tomato": (21.0, 65.0), "orchid": (24.0, 80.0), "lettuce": (16.0, 70.0), "fern": (20.0, 85.0)}


class House:
    """Air of one house; vents and heaters pull it towards what its plants want."""

    def __init__(self, name, rng):
        self.name, self.rng = name, rng
        self.wanted, self.damp = HOUSES[name]
        self.temperature, self.humidity = self.wanted - 3, self.damp - 10
        self.vent, self.heater, self.misting = 0, 0, 0

    def step(self, outside):
        drift = (outside - self.temperature) * (0.02 + 0.05 * self.vent / 100)
        self.temperature += drift + 0.012 * self.heater + self.rng.gauss(0, 0.15)
        self.humidity += (55 - self.humidity) * 0.03 + 0.08 * self.misting - 0.02 * self.vent + self.rng.gauss(0, 0.4)
        self.humidity = min(100.0, max(5.0, self.humidity))
        self.decide()

    def decide(self):
        error = self.wanted - self.temperature
        self.heater = int(min(100, max(0, 40 * error)))
        self.vent = int(min(100, max(0, -35 * error)))
        self.misting = int(min(100, max(0, 5 * (self.damp - self.humidity))))

    def row(self, minute):
        return [minute, self.name, round(self.temperature, 3), round(self.humidity, 3), self.vent, self.heater,
                self.misting]


def outside(minute):
    hour = minute / 60
    return 6 + 8 * max(0.0, 1 - abs(hour - 14) / 8)


def log(houses):
    table = pd.DataFrame(columns=COLUMNS)
    for minute in range(0, 24 * 60, 10):
        for house in houses:
            house.step(outside(minute))
            table.loc[len(table)] = house.row(minute)  # waste: store
    return table


def log_fixed(houses):
    rows = []
    for minute in range(0, 24 * 60, 10):
        for house in houses:
            house.step(outside(minute))
            rows.append(house.row(minute))
    return pd.DataFrame(rows, columns=COLUMNS)


def summary(table):
    """By house: comfort, work of the heaters and the longest run of an open vent."""
    table = table.astype({"vent": int, "heater": int, "misting": int, "temperature": float, "humidity": float})
    rows = []
    for name, part in table.groupby("house", sort=True):
        spread = (part["temperature"] - HOUSES[name][0]).abs()
        closed = (part["vent"] == 0).cumsum()
        longest = part[part["vent"] > 0].groupby(closed).size().max()
        rows.append([round(spread.mean(), 6), round(part["humidity"].mean(), 6), part["heater"].sum(),
                     part["misting"].sum(), 0 if longest != longest else longest])
    return rows


def work(days, logging):
    rng, rows = random.Random(620), []
    for _ in range(days):
        rows.append(summary(logging([House(name, rng) for name in HOUSES])))
    return rows


if __name__ == "__main__":
    harness.main(lambda n: work(n, log), lambda n: work(n, log_fixed), repeats=10)
