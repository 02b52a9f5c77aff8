# SPDX-License-Identifier: Apache-2.0
"""Tours of a street sweeper: simulated annealing turns round parts of a tour; distances are computed once a town."""

import math
import random

import harness

STREETS = 120


def town(rng):
    """How far it is from each street to each other one, in metres."""
    places = [complex(rng.uniform(0, 4_000), rng.uniform(0, 3_000)) for _ in range(STREETS)]
    return [[abs(one - other) for other in places] for one in places]


def length(tour, far):
    return sum(far[one][other] for one, other in zip(tour, tour[1:] + tour[:1]))


class Annealing:
    def __init__(self, rng, far):
        self.rng = rng
        self.far = far
        self.tour = list(range(STREETS))
        rng.shuffle(self.tour)

    def gain(self, first, last):
        """What the tour loses in length if the part between is driven the other way round."""
        tour, far = self.tour, self.far
        before, start, end, after = tour[first - 1], tour[first], tour[last], tour[(last + 1) % STREETS]
        return far[before][start] + far[end][after] - far[before][end] - far[start][after]

    def step(self, heat):
        first = int(self.rng.random() * (STREETS - 1))
        last = first + 1 + int(self.rng.random() * min(60, STREETS - 1 - first))
        gain = self.gain(first, last)
        if gain > 0 or self.rng.random() < math.exp(gain / heat):
            self.tour[first : last + 1] = self.tour[first : last + 1][::-1]

    def cool(self, steps, heat=900.0):
        factor = math.exp(math.log(1.0 / heat) / steps)
        for _ in range(steps):
            self.step(heat)
            heat *= factor
        return length(self.tour, self.far)


def work(repeats):
    rng = random.Random(1953)
    return [Annealing(rng, town(rng)).cool(40_000) for _ in range(repeats)]


if __name__ == "__main__":
    harness.main(work, repeats=550)
