# SPDX-License-Identifier: Apache-2.0
"""How much a cyclist has left: a model of second after second looks each value up in the ride's data frame."""

import math

import numpy as np
import pandas as pd

import harness

CATEGORY = "slice underutilization"
KIND = "load"


def ride(rng, seconds):
    """Power and grade; the recorder stops at traffic lights, so steps of time differ."""
    effort = 190 + 60 * np.sin(np.arange(seconds) / rng.uniform(60, 200)) + rng.normal(scale=35, size=seconds)
    bursts = rng.random(seconds) < 0.04
    effort[bursts] += rng.uniform(100, 500, size=bursts.sum())
    return pd.DataFrame({
        "time": np.cumsum(rng.choice([1, 1, 1, 1, 2, 5], size=seconds)),
        "power": np.maximum(effort, 0).round(),
        "grade": rng.normal(scale=2.0, size=seconds).round(1),
    })  # fmt: skip


class Athlete:
    def __init__(self, critical_power, reserve):
        self.critical_power = critical_power
        self.reserve = reserve

    def after(self, left, power, grade, seconds):
        """Joules left after this step; above the critical power they go, below it they come back slowly."""
        surplus = power * (1.0 + 0.002 * max(grade, 0.0)) - self.critical_power
        if surplus > 0:
            return max(0.0, left - surplus * seconds)
        spent = self.reserve - left
        return self.reserve - spent * math.exp(surplus * seconds / self.reserve)


def step(athlete, record, number, left):
    seconds = record["time"][number] - record["time"][number - 1]  # waste: load
    return athlete.after(left, record["power"][number], record["grade"][number], seconds)  # waste: load


def balance(athlete, record):
    left, lowest = athlete.reserve, athlete.reserve
    for number in range(1, len(record)):
        left = step(athlete, record, number, left)
        lowest = min(lowest, left)
    return left, lowest


def balance_fixed(athlete, record):
    left, lowest = athlete.reserve, athlete.reserve
    seconds = record["time"].diff()
    for values in zip(record["power"].tolist()[1:], record["grade"].tolist()[1:], seconds.tolist()[1:]):
        left = athlete.after(left, *values)
        lowest = min(lowest, left)
    return left, lowest


def work(repeats, model):
    rng = np.random.default_rng(1903)
    found = []
    for _ in range(repeats):
        athlete = Athlete(rng.uniform(220, 330), rng.uniform(12_000, 24_000))
        found.append(model(athlete, ride(rng, 2_400)))
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, balance), lambda n: work(n, balance_fixed), repeats=210)
