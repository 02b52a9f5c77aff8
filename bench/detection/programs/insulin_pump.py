# SPDX-License-Identifier: Apache-2.0
"""Simulates an insulin pump: glucose of each minute follows from the minute before, read from NumPy arrays."""

import numpy as np

import harness

CATEGORY = "slice underutilization"
KIND = "load"
MINUTES = 1440


def day(rng):
    """Carbohydrates that arrive in the blood and movement, by minute."""
    minute = np.arange(MINUTES)
    meals = np.zeros(MINUTES)
    for hour in (7.5, 12.5, 19.0):
        after = np.maximum(0.0, minute - 60 * (hour + rng.normal(scale=0.4)))
        meals += rng.uniform(40, 90) * after / 1600.0 * np.exp(-after / 40.0)
    walking = np.where(rng.random(MINUTES) < 0.1, rng.gamma(2.0, size=MINUTES), 0.0)
    return meals, np.convolve(walking, np.ones(15) / 15, mode="same")


def simulate(meals, walking, dose):
    glucose = np.empty(MINUTES)
    insulin = np.empty(MINUTES)
    glucose[0], insulin[0] = 6.0, 0.5
    for t in range(1, MINUTES):
        pumped = dose * max(0.0, glucose[t - 1] - 5.5) + 0.02  # waste: load
        insulin[t] = 0.97 * insulin[t - 1] + pumped  # waste: load
        used = 0.01 * glucose[t - 1] * (insulin[t - 1] + 0.3 * walking[t])  # waste: load
        glucose[t] = max(2.0, glucose[t - 1] + 0.25 * meals[t] + 0.04 - used)  # waste: load
    return glucose


def simulate_fixed(meals, walking, dose):
    sugar, insulin = 6.0, 0.5
    glucose = [sugar]
    for meal, walk in zip(meals[1:].tolist(), walking[1:].tolist()):
        pumped = dose * max(0.0, sugar - 5.5) + 0.02
        used = 0.01 * sugar * (insulin + 0.3 * walk)
        insulin = 0.97 * insulin + pumped
        sugar = max(2.0, sugar + 0.25 * meal + 0.04 - used)
        glucose.append(sugar)
    return np.array(glucose)


def work(repeats, run):
    rng = np.random.default_rng(1921)
    found = []
    for _ in range(repeats):
        meals, walking = day(rng)
        glucose = run(meals, walking, rng.uniform(0.005, 0.03))
        found.append([((glucose > 4.0) & (glucose < 10.0)).mean(), glucose.max(), glucose.mean()])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, simulate), lambda n: work(n, simulate_fixed), repeats=1_800)
