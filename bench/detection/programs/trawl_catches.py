# SPDX-License-Identifier: Apache-2.0
"""Catches of a survey by trawlers: a jackknife that builds each sample without one haul and starts from scratch."""

import numpy as np

import harness

# Leaving out one of n hauls costs n operations, so all of them cost n². Sums without one value follow from the sums of
# all in one operation each. Nothing is called twice with the same arguments: inefficient algorithm.
CATEGORY = "inefficient algorithm"
KIND = "load"
SPECIES = ("cod", "haddock", "plaice", "whiting", "saithe")


class Survey:
    """Hauls of one season: swept area in km² and kilograms of each species, many of them zero."""

    def __init__(self, rng, hauls):
        self.area = rng.uniform(0.03, 0.09, hauls)
        depth = rng.uniform(20.0, 180.0, hauls)
        self.catch = {}
        for number, name in enumerate(SPECIES):
            likes = np.exp(-(((depth - 35.0 * (number + 0.6)) / 40.0) ** 2))
            there = rng.random(hauls) < 0.25 + 0.6 * likes
            self.catch[name] = there * rng.gamma(0.8, 900.0 * likes * self.area + 1e-6)


def ratio(catch, area):
    """Kilograms per km², and the spread of single hauls around it."""
    density = catch.sum() / area.sum()  # waste: load
    rest = catch - density * area  # waste: load
    return density, np.sqrt((rest**2).sum() / (len(catch) - 1))  # waste: load


def without_each(catch, area):
    found = []
    for haul in range(len(catch)):
        found.append(ratio(np.delete(catch, haul), np.delete(area, haul)))  # waste: load
    return np.array(found).T


def without_each_fixed(catch, area):
    density = (catch.sum() - catch) / (area.sum() - area)
    squares = (catch @ catch - catch**2) - 2.0 * density * (catch @ area - catch * area)
    squares += density**2 * (area @ area - area**2)
    return density, np.sqrt(squares / (len(catch) - 2))


def jackknife(whole, parts):
    """The estimate without its bias, and its standard error."""
    count = len(parts)
    error = np.sqrt((count - 1) / count * ((parts - parts.mean()) ** 2).sum())
    return count * whole - (count - 1) * parts.mean(), error


def report(survey, leave_out):
    found = []
    for name in SPECIES:
        catch = survey.catch[name]
        parts = leave_out(catch, survey.area)
        for whole, part in zip(ratio(catch, survey.area), parts):
            found.extend(jackknife(whole, part))
    return found


def work(seasons, leave_out):
    rng = np.random.default_rng(1965)
    return [report(Survey(rng, 380 + 7 * season % 60), leave_out) for season in range(seasons)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, without_each), lambda n: work(n, without_each_fixed), repeats=260)
