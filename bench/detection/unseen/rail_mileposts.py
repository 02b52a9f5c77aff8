# SPDX-License-Identifier: Apache-2.0
"""Track inspection: faults that a measuring train found are put between mileposts and joined to jobs of repair."""

import bisect
import collections
import dataclasses
import math
import random

import harness

# Mileposts are in order, so the one before a fault is found by bisection, not by a walk: inefficient algorithm.
CATEGORY = "inefficient algorithm"
KIND = "load"
POSTS = 240
KINDS = ("gauge", "cant", "twist", "level", "joint")
LIMITS = {"gauge": 6.0, "cant": 9.0, "twist": 5.0, "level": 8.0, "joint": 4.0}


@dataclasses.dataclass
class Fault:
    metres: float
    kind: str
    size: float
    is_left: bool


class Line:
    """A line with its mileposts, which are not quite a mile apart, and its curves."""

    def __init__(self, rng):
        self.metres = [0.0]
        for _ in range(POSTS - 1):
            self.metres.append(self.metres[-1] + rng.uniform(395, 410))
        self.curves = sorted(rng.uniform(0, self.metres[-1]) for _ in range(60))

    def post(self, metres):
        """Number of the last milepost that the train had passed."""
        number = 0
        while number + 1 < POSTS and self.metres[number + 1] <= metres:  # waste: load
            number += 1  # waste: load
        return number

    def post_fixed(self, metres):
        return bisect.bisect_right(self.metres, metres) - 1

    def to_curve(self, metres):
        """How far it is to the next curve, ahead or behind."""
        at = bisect.bisect_left(self.curves, metres)
        around = self.curves[max(0, at - 1):at + 1]
        return min(abs(curve - metres) for curve in around)


def run(rng, line):
    """A night's faults; most lie close to others."""
    metres, length = 0.0, line.metres[-1]
    while metres < length:
        kind = rng.choice(KINDS)
        size = LIMITS[kind] * rng.lognormvariate(0, 0.3)
        yield Fault(min(metres, length), kind, round(size, 2), rng.random() < 0.5)
        metres += rng.expovariate(1 / 20) if rng.random() < 0.8 else rng.uniform(100, 900)


def place(line, fault, post_of):
    """Milepost and metres, as the gang reads them."""
    number = post_of(line, fault.metres)
    return number, fault.metres - line.metres[number]


def urgency(line, fault):
    """From the size of the fault; near a curve it counts for more."""
    over = fault.size / LIMITS[fault.kind]
    near = math.exp(-line.to_curve(fault.metres) / 150)
    return over * (1 + 0.5 * near) * (1.1 if fault.is_left else 1.0)


def jobs(line, faults, post_of):
    """Faults of the same kind within the same stretch are one job, as urgent as its worst."""
    found = collections.defaultdict(list)
    for fault in faults:
        number, metres = place(line, fault, post_of)
        found[number, int(metres // 100), fault.kind].append(urgency(line, fault))
    return found


def week(found):
    """The worst jobs, and what they need: a gang repairs a stretch in hours by its count of faults."""
    order = sorted(found.items(), key=lambda item: (-max(item[1]), item[0]))
    hours, chosen = 0.0, []
    for (number, part, _), faults in order:
        if (hours := hours + 0.8 + 0.3 * len(faults)) > 40:
            break
        chosen.append(number * 10 + part)
    return chosen


def work(nights, post_of):
    rng, rows = random.Random(7115), []
    line = Line(rng)
    for _ in range(nights):
        found = jobs(line, run(rng, line), post_of)
        chosen = week(found)
        worst = max(max(faults) for faults in found.values())
        rows.append([len(found), len(chosen), sum(chosen), chosen[0], round(worst, 6)])
    return rows


if __name__ == "__main__":
    harness.main(lambda n: work(n, Line.post), lambda n: work(n, Line.post_fixed), repeats=710)
