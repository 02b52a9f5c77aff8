# SPDX-License-Identifier: Apache-2.0
"""A chess server says for each player who stands next to him; every question sorts the same ratings again."""

import numpy as np

import harness

CATEGORY = "repeated native calls"
KIND = "store"
PLAYERS, ASKING = 5000, 150


class League:
    def __init__(self, ratings):
        self.ratings = ratings

    def order(self):
        return np.argsort(self.ratings, kind="stable")  # waste: store

    def neighbours(self, player, reach=3):
        """Those who stand at most reach places above or below."""
        order = self.order()
        place = int(np.searchsorted(self.ratings[order], self.ratings[player]))
        return order[max(0, place - reach) : place + reach + 1]


class LeagueFixed(League):
    def __init__(self, ratings):
        super().__init__(ratings)
        self.sorted_players = super().order()

    def order(self):
        return self.sorted_players


def evening(rng, ratings, make):
    """How good the pairings are that the server proposes, and the ratings after it."""
    league = make(ratings)
    gaps = []
    for player in rng.integers(PLAYERS, size=ASKING):
        near = league.neighbours(player)
        gaps.append(np.ptp(ratings[near]))
    played = rng.integers(PLAYERS, size=PLAYERS // 10)
    ratings = ratings.copy()
    ratings[played] += rng.integers(-12, 13, size=len(played))
    return np.sum(gaps), ratings


def work(repeats, make):
    rng = np.random.default_rng(111)
    ratings = rng.normal(1500.0, 300.0, size=PLAYERS)
    found = []
    for _ in range(repeats):
        gap, ratings = evening(rng, ratings, make)
        found.append(gap)
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, League), lambda n: work(n, LeagueFixed), repeats=120)
