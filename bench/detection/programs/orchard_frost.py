# SPDX-License-Identifier: Apache-2.0
"""Frost risk of orchards: chill hours are counted in a winter's temperatures, one by one."""

import math

import numpy as np
from scipy import ndimage

import harness

# The hours between two limits are a mask of the whole array: slice underutilization.
CATEGORY = "slice underutilization"
KIND = "load"
HOURS = 24 * 150
LOWER, UPPER = 0.0, 7.2
VARIETIES = {"Gala": 1100, "Fuji": 850, "Anna": 300, "Braeburn": 1000}


class Station:
    """One weather station with its height and its own noise."""

    def __init__(self, number, rng):
        self.number = number
        self.height = float(rng.uniform(40, 900))
        self.noise = rng.normal(0, 2.2, HOURS)

    def winter(self):
        hours = np.arange(HOURS)
        season = 8.5 - 7.0 * np.sin(math.pi * hours / HOURS)
        day = 3.4 * np.cos(2 * math.pi * (hours - 15) / 24)
        smooth = ndimage.gaussian_filter1d(self.noise, 6.0) * 3.0
        return np.round(season + day + smooth + self.noise * 0.4 - 0.0065 * self.height, 1)


def chill_hours(winter):
    count = 0
    for hour in range(len(winter)):
        if LOWER < winter[hour] <= UPPER:  # waste: load
            count += 1
    return count


def chill_hours_fixed(winter):
    return int(np.count_nonzero((winter > LOWER) & (winter <= UPPER)))


def frosts(winter):
    """Spells below zero: how many, the longest and the coldest."""
    labels, count = ndimage.label(winter < 0)
    if not count:
        return 0, 0, 0.0
    lengths = np.bincount(labels.ravel())[1:]
    return count, int(lengths.max()), float(winter.min())


def heat_units(winter, base=4.5):
    """Growing degree hours, from the day on which chilling is over."""
    above = np.clip(winter - base, 0, 25 - base)
    return np.cumsum(above)


def bloom_day(units, need):
    return int(np.searchsorted(units, need)) // 24


def suited(chill):
    return [name for name, need in VARIETIES.items() if chill >= need]


def report(station, counting):
    winter = station.winter()
    chill = counting(winter)
    spells, longest, coldest = frosts(winter)
    day = bloom_day(heat_units(winter), 5200)
    names = suited(chill)
    return [station.number, chill, spells, longest, coldest, day, len(names), sum(map(len, names))]


def work(stations, counting):
    rng = np.random.default_rng(611)
    return [report(Station(number, rng), counting) for number in range(stations)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, chill_hours), lambda n: work(n, chill_hours_fixed), repeats=8000)
