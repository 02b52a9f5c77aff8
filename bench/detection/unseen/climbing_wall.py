# SPDX-License-Identifier: Apache-2.0
"""Climbing contest: tries come in one by one, and the screen in the hall shows the place of who has just climbed."""

import bisect
import random

import harness

# A list in order takes a new result by bisection; here all of it is sorted again: inefficient algorithm.
CATEGORY = "inefficient algorithm"
KIND = "load"
ROUTES = ("red", "blue", "green", "white", "black")
HOLDS = {"red": 30, "blue": 34, "green": 38, "white": 42, "black": 50}


class Climber:
    def __init__(self, rng, number):
        self.number = number
        self.skill = rng.gauss(0.75, 0.08)
        self.tired = 0.0
        self.best = {}

    def climb(self, rng, route):
        """Holds that were reached, and the seconds of the try."""
        holds, reached, seconds = HOLDS[route], 0, 0.0
        chance = min(0.995, 0.95 + 0.06 * (self.skill - self.tired))
        while reached < holds and rng.random() < chance:
            reached += 1
            seconds += 2.5 + rng.random() * 4
        self.tired += 0.0004 * reached
        return reached, round(seconds, 2)


def points(route, reached, seconds):
    """A hundred for the top; of those who get there, the faster has more."""
    if reached == HOLDS[route]:
        return round(100 + max(0.0, 60 - seconds / 6), 2)
    return round(100 * reached / HOLDS[route] * 0.8, 2)


class Board:
    """All tries of a contest, the best first."""

    def __init__(self):
        self.rows = []

    def enter(self, row):
        self.rows.append(row)
        self.rows = sorted(self.rows, key=lambda row: (row[0], row[1]))  # waste: load
        return bisect.bisect_left(self.rows, row)

    def enter_fixed(self, row):
        bisect.insort(self.rows, row)
        return bisect.bisect_left(self.rows, row)

    def gap(self, place):
        """Points to the try that is one place better."""
        return self.rows[place][0] - self.rows[place - 1][0] if place else 0.0


def tries(rng, climbers, count):
    """Who climbs what, in the order of the queue."""
    queue = list(range(len(climbers)))
    rng.shuffle(queue)
    for number in range(count):
        yield climbers[queue[number % len(queue)]], rng.choice(ROUTES)


def contest(rng, entering):
    climbers = [Climber(rng, number) for number in range(60)]
    board, places, gaps = Board(), 0, 0.0
    for number, (climber, route) in enumerate(tries(rng, climbers, 400)):
        reached, seconds = climber.climb(rng, route)
        won = points(route, reached, seconds)
        climber.best[route] = max(won, climber.best.get(route, 0.0))
        place = entering(board, (-won, number, climber.number))
        places += place
        gaps += board.gap(place)
    return board, climbers, places, gaps


def final(climbers):
    """Sums of each climber's best tries: the three winners and the mean."""
    sums = sorted(((-round(sum(climber.best.values()), 2), climber.number) for climber in climbers))
    mean = -sum(total for total, _ in sums) / len(sums)
    return [number for _, number in sums[:3]] + [-sums[0][0], round(mean, 4)]


def work(contests, entering):
    rng, rows = random.Random(7114), []
    for _ in range(contests):
        board, climbers, places, gaps = contest(rng, entering)
        tops = sum(-row[0] >= 100 for row in board.rows)
        rows.append([places, round(gaps, 3), tops, -board.rows[0][0], *final(climbers)])
    return rows


if __name__ == "__main__":
    harness.main(lambda n: work(n, Board.enter), lambda n: work(n, Board.enter_fixed), repeats=740)
