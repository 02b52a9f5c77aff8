# SPDX-License-Identifier: Apache-2.0
"""Scores of songs for a listener from factors of the songs: a wide product is formed before the vector comes in."""

import numpy as np

import harness

CATEGORY = "inefficient algorithm"
KIND = "load"
SONGS, FACTORS = 700, 6


class Listener:
    """A taste that moves a little with every song played."""

    def __init__(self, rng):
        self.rng = rng
        self.played = np.zeros(SONGS)
        self.weights = rng.gamma(2.0, size=FACTORS)

    def play(self, song):
        self.played *= 0.9
        self.played[song] += 1.0
        self.weights *= np.exp(self.rng.normal(scale=0.05, size=FACTORS))


def scores(factors, weights, played):
    return (factors * weights) @ factors.T @ played  # waste: load


def scores_fixed(factors, weights, played):
    return (factors * weights) @ (factors.T @ played)


def evening(rng, factors, songs, rate):
    """Songs one after the other: the best one not played yet."""
    listener = Listener(rng)
    played, last = set(), int(rng.integers(SONGS))
    total = 0.0
    for _ in range(songs):
        listener.play(last)
        played.add(last)
        found = rate(factors, listener.weights, listener.played)
        found[list(played)] = -np.inf
        last = int(found.argmax())
        total += found[last]
    return [last, total]


def work(repeats, rate):
    rng = np.random.default_rng(88)
    factors = rng.normal(size=(SONGS, FACTORS)) / FACTORS**0.5
    return [evening(rng, factors, 60, rate) for _ in range(repeats)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, scores), lambda n: work(n, scores_fixed), repeats=150)
