# SPDX-License-Identifier: Apache-2.0
"""Rounds of delivery vans by simulated annealing; of each turned stretch, only the two changed legs are measured."""

import math
import random

import numpy as np

import harness

STOPS, TRIES = 120, 150_000


def distances(random_source):
    """Minutes between all stops, as lists, for they are read one by one."""
    places = np.array([(random_source.gauss(0.0, 9.0), random_source.gauss(0.0, 6.0)) for _ in range(STOPS)])
    return np.linalg.norm(places[:, None] - places, axis=2).tolist()


def length(tour, apart):
    return sum(apart[first][second] for first, second in zip(tour, tour[1:] + tour[:1]))


def anneal(random_source, apart):
    tour = list(range(STOPS))
    now = length(tour, apart)
    best, heat = now, 8.0
    pick, chance = random_source.randrange, random_source.random
    for _ in range(TRIES):
        heat *= 0.99995
        i, j = pick(1, STOPS), pick(1, STOPS)
        if i > j:
            i, j = j, i
        before, first, last, after = tour[i - 1], tour[i], tour[j], tour[(j + 1) % STOPS]
        gain = apart[before][last] + apart[first][after] - apart[before][first] - apart[last][after]
        if gain < 0.0 or chance() < math.exp(-gain / heat):
            tour[i : j + 1] = tour[i : j + 1][::-1]
            now += gain
            best = min(best, now)
    return best, now, length(tour, apart)


def work(repeats):
    random_source = random.Random(1983)
    return [anneal(random_source, distances(random_source)) for _ in range(repeats)]


if __name__ == "__main__":
    harness.main(work, repeats=120)
