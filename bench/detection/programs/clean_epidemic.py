# SPDX-License-Identifier: Apache-2.0
"""Epidemics in towns, one after the other: who is ill infects neighbours on a grid, recovers, and stays immune.

Most people are in the same state as the day before, and where the next one falls ill is not known before the dice are
thrown. The larger arrays are made once and used each day. It runs for 30 seconds.
"""

import numpy as np

import harness

SIDE, ILL_DAYS = 300, 7


class Town:
    """State 0: healthy, 1 to ILL_DAYS: days left of the illness, IMMUNE afterwards. The rim is empty."""

    IMMUNE = 255

    def __init__(self):
        shape, outer = (SIDE, SIDE), (SIDE + 2, SIDE + 2)
        self.states = np.zeros(outer, dtype=np.uint8)
        self.is_ill = np.zeros(outer, dtype=np.uint8)
        self.counts = np.empty(shape, dtype=np.uint8)
        self.dice = np.empty(shape, dtype=np.float32)

    def settle(self, rng):
        self.states[:] = 0
        for x, y in rng.integers(1, SIDE + 1, size=(150, 2)):
            self.states[x, y] = ILL_DAYS

    def day(self, rng, chances):
        """chances[n]: to fall ill with n neighbours who are. How many are ill, and fell ill."""
        states, is_ill, counts = self.states, self.is_ill, self.counts
        inner = states[1:-1, 1:-1]
        np.subtract(states, 1, out=is_ill)  # a healthy one comes to 255
        np.less(is_ill, ILL_DAYS, out=is_ill, casting="unsafe")
        np.add(is_ill[:-2, 1:-1], is_ill[2:, 1:-1], out=counts)
        counts += is_ill[1:-1, :-2]
        counts += is_ill[1:-1, 2:]
        rng.random(out=self.dice, dtype=np.float32)
        falls_ill = (inner == 0) & (self.dice < chances[counts])
        ill_now = is_ill[1:-1, 1:-1].view(bool)
        recovers = ill_now & (inner == 1)
        inner -= ill_now
        inner[recovers] = self.IMMUNE
        inner[falls_ill] = ILL_DAYS
        return np.count_nonzero(ill_now), np.count_nonzero(falls_ill)


def work(repeats):
    rng = np.random.default_rng(508)
    town, found = Town(), []
    for _ in range(repeats):
        town.settle(rng)
        chance = rng.uniform(0.08, 0.2)
        chances = (1.0 - (1.0 - chance) ** np.arange(5)).astype(np.float32)
        total, days, most = 0, 0, 0
        while (counts := town.day(rng, chances))[0]:
            total, days, most = total + counts[1], days + 1, max(most, counts[0])
        found.append([total, days, most])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=170)
