# SPDX-License-Identifier: Apache-2.0
"""Air traffic: aircraft fly their legs, and each radar turn looks at all pairs for those that come too near."""

import math
import random

import harness

# Sorted by one coordinate an aircraft meets only those beside it: inefficient algorithm.
CATEGORY = "inefficient algorithm"
KIND = "load"
SECTOR, COUNT = 400.0, 130
APART, LEVELS = 5.0, 1000


class Aircraft:
    __slots__ = ("sign", "x", "y", "level", "course", "speed", "goal")

    def __init__(self, sign, rng):
        self.sign = sign
        self.x, self.y = rng.uniform(0, SECTOR), rng.uniform(0, SECTOR)
        self.level = rng.randrange(24, 40) * 1000
        self.speed = rng.uniform(380, 500)
        self.turn_to(rng)

    def turn_to(self, rng):
        self.goal = rng.uniform(0, SECTOR), rng.uniform(0, SECTOR)
        self.course = math.atan2(self.goal[1] - self.y, self.goal[0] - self.x)

    def fly(self, seconds, rng):
        way = self.speed * seconds / 3600
        self.x += way * math.cos(self.course)
        self.y += way * math.sin(self.course)
        if abs(self.x - self.goal[0]) + abs(self.y - self.goal[1]) < 3:
            self.turn_to(rng)


def conflicts(traffic):
    found = []
    for number, one in enumerate(traffic):
        for other in traffic[number + 1:]:
            if abs(one.x - other.x) < APART and abs(one.y - other.y) < APART:  # waste: load
                if abs(one.level - other.level) < LEVELS:
                    found.append((one, other) if one.sign < other.sign else (other, one))
    return found


def conflicts_fixed(traffic):
    found, near = [], []
    for one in sorted(traffic, key=lambda aircraft: aircraft.x):
        near = [other for other in near if one.x - other.x < APART]
        for other in near:
            if abs(one.y - other.y) < APART and abs(one.level - other.level) < LEVELS:
                found.append((one, other) if one.sign < other.sign else (other, one))
        near.append(one)
    return found


def closing(one, other):
    """Minutes to the closest point, below zero if the two fly apart."""
    dx, dy = other.x - one.x, other.y - one.y
    vx = other.speed * math.cos(other.course) - one.speed * math.cos(one.course)
    vy = other.speed * math.sin(other.course) - one.speed * math.sin(one.course)
    square = vx * vx + vy * vy
    return -60 * (dx * vx + dy * vy) / square if square else -1.0


def resolve(pairs):
    """The later sign of a closing pair climbs or sinks by a level."""
    moved = set()
    for one, other in sorted(pairs, key=lambda pair: (pair[0].sign, pair[1].sign)):
        if closing(one, other) > 0 and other.sign not in moved:
            other.level += 1000 if other.level < 39000 else -1000
            moved.add(other.sign)
    return len(moved)


def work(turns, looking):
    rng = random.Random(625)
    traffic = [Aircraft(f"AB{number:04}", rng) for number in range(COUNT)]
    rows = []
    for _ in range(turns):
        for aircraft in traffic:
            aircraft.fly(12, rng)
        pairs = looking(traffic)
        signs = sum(int(one.sign[2:]) * int(other.sign[2:]) for one, other in pairs)
        rows.append([len(pairs), resolve(pairs), signs])
    return rows


if __name__ == "__main__":
    harness.main(lambda n: work(n, conflicts), lambda n: work(n, conflicts_fixed), repeats=15000)
