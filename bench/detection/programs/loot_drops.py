# SPDX-License-Identifier: Apache-2.0
"""What monsters drop in a dungeon, to balance a game; each drop is its own weighted choice among all items."""

import numpy as np

import harness

CATEGORY = "API misuse"
KIND = "load"
ITEMS = 1500


class Dungeon:
    def __init__(self, rng):
        self.rng = rng
        rarity = rng.pareto(1.2, size=ITEMS) + 0.05
        self.chances = rarity / rarity.sum()
        self.worth = np.round(3.0 / self.chances ** 0.5).astype(int)

    def drops(self, kills):
        found = []
        for _ in range(kills):
            found.append(self.rng.choice(ITEMS, p=self.chances))  # waste: load
        return found

    def raid(self):
        """Kills until the party leaves: what the bag is worth, how many kinds are in it, what is there twice."""
        kills = int(self.rng.integers(150, 450))
        bag = np.bincount(self.drops(kills), minlength=ITEMS)
        return [int(bag @ self.worth), np.count_nonzero(bag), np.count_nonzero(bag > 1)]


class FixedDungeon(Dungeon):
    def drops(self, kills):
        return self.rng.choice(ITEMS, size=kills, p=self.chances)


def work(repeats, kind):
    dungeon = kind(np.random.default_rng(707))
    return [dungeon.raid() for _ in range(repeats)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, Dungeon), lambda n: work(n, FixedDungeon), repeats=750)
