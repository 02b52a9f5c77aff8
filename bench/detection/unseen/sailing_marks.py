# SPDX-License-Identifier: Apache-2.0
"""Regatta: positions of boats are followed around the marks of a course, which race control sends as a document."""

import json
import math
import random

import harness

# Race control sends a new document a few times in a race; it is parsed for each position: repeated native calls.
CATEGORY = "repeated native calls"
KIND = "store"
BOATS, LEGS = 14, 6
FIXES = 90


def course_text(rng, wind):
    """Marks to windward and to leeward in turn, as race control enters them."""
    marks, x, y = [], 0.0, 0.0
    for number in range(LEGS):
        turn = wind + math.pi * (number % 2) + rng.uniform(-0.2, 0.2)
        x, y = x + 900 * math.sin(turn), y + 900 * math.cos(turn)
        marks.append({"name": f"M{number + 1}", "x": round(x, 1), "y": round(y, 1), "radius": rng.choice((60, 80)),
                      "rounding": rng.choice(("port", "starboard"))})
    return json.dumps({"wind": round(math.degrees(wind), 1), "marks": marks, "class": "Dragon"}, indent=1)


class Boat:
    def __init__(self, rng, number):
        self.number, self.speed = number, rng.uniform(28, 34)
        self.x, self.y = rng.uniform(-50, 50), rng.uniform(-20, 0)
        self.next_mark, self.tacks, self.side = 0, 0, rng.choice((-1, 1))
        self.rounded = []

    def sail(self, rng, mark, wind):
        """A step towards the mark; against the wind it tacks."""
        bearing = math.atan2(mark["x"] - self.x, mark["y"] - self.y)
        off = (bearing - wind + math.pi) % (2 * math.pi) - math.pi
        speed = self.speed
        if abs(off) < 0.7:
            if rng.random() < 0.05:
                self.side, self.tacks = -self.side, self.tacks + 1
            bearing, speed = wind + 0.75 * self.side, 0.85 * speed
        drift = rng.gauss(0, 0.04)
        self.x += speed * math.sin(bearing + drift)
        self.y += speed * math.cos(bearing + drift)

    def has_rounded(self, mark):
        return math.hypot(mark["x"] - self.x, mark["y"] - self.y) < mark["radius"]


class Control:
    """What is sent to the fleet; the wind may turn."""

    def __init__(self, rng):
        self.wind = rng.uniform(0, 2 * math.pi)
        self.text = course_text(rng, self.wind)
        self.course = json.loads(self.text)

    def shift(self, rng):
        if rng.random() < 0.02:
            self.wind += rng.uniform(-0.1, 0.1)
            self.text = course_text(random.Random(5), self.wind)
            self.course = json.loads(self.text)

    def read(self):
        return json.loads(self.text)  # waste: store

    def read_fixed(self):
        return self.course


def follow(rng, boat, time, course):
    marks = course["marks"]
    if boat.next_mark == len(marks):
        return
    mark = marks[boat.next_mark]
    boat.sail(rng, mark, math.radians(course["wind"]))
    if boat.has_rounded(mark):
        boat.rounded.append((time, mark["rounding"] == "port"))
        boat.next_mark += 1


def race(rng, reading):
    control = Control(rng)
    fleet = [Boat(rng, number) for number in range(BOATS)]
    for time in range(FIXES):
        control.shift(rng)
        for boat in fleet:
            follow(rng, boat, time, reading(control))
    fleet.sort(key=lambda boat: (-boat.next_mark, boat.rounded[-1:], boat.number))
    ports = sum(is_port for boat in fleet for _, is_port in boat.rounded)
    return [boat.number for boat in fleet] + [sum(boat.tacks for boat in fleet), fleet[0].next_mark, ports]


def work(races, reading):
    rng = random.Random(7109)
    return [race(rng, reading) for _ in range(races)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, Control.read), lambda n: work(n, Control.read_fixed), repeats=770)
