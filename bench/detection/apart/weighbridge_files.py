# SPDX-License-Identifier: Apache-2.0
"""A weighbridge at a quarry: each lorry is a line with lists of axle loads, from which slips and bans are made."""

import ast
import collections
import io
import json
import random

import harness

# Lines are lists of numbers, for which ast makes a syntax tree of each; json reads them at once: API misuse.
CATEGORY = "API misuse"
KIND = "load"
ROCKS = ("ballast", "chippings", "dust", "gabion", "rubble", "sand")
LIMITS = {2: 18_000, 3: 26_000, 4: 32_000, 5: 40_000, 6: 44_000}
Lorry = collections.namedtuple("Lorry", "number empty loaded rock seconds")


def lines(rng, count):
    """What the bridge writes in a day: number, axle loads empty and full, rock, time."""
    file, time = io.StringIO(), 6 * 3600
    for _ in range(count):
        axles = rng.randrange(2, 7)
        empty = [rng.randrange(2200, 3200, 20) for _ in range(axles)]
        loaded = [load + rng.randrange(3000, 5600, 20) for load in empty]
        time += rng.randrange(20, 240)
        file.write(f'[{rng.randrange(300)}, {empty}, {loaded}, "{rng.choice(ROCKS)}", {time}]\n')
    file.seek(0)
    return file


def read(file):
    for line in file:
        yield Lorry(*ast.literal_eval(line))  # waste: load


def read_fixed(file):
    for line in file:
        yield Lorry(*json.loads(line))


def net(lorry):
    return sum(lorry.loaded) - sum(lorry.empty)


def faults(lorry):
    """Too heavy as a whole, too heavy on an axle, or loaded to one end."""
    total = sum(lorry.loaded)
    half = len(lorry.loaded) // 2
    front, back = sum(lorry.loaded[:half]) / half, sum(lorry.loaded[-half:]) / half
    if total > LIMITS[len(lorry.loaded)]:
        yield "total"
    if max(lorry.loaded) > 8000:
        yield "axle"
    if abs(front - back) > 0.2 * (front + back):
        yield "end"


class Ledger:
    """Tonnes and fees of the day, and who may not come tomorrow."""

    def __init__(self):
        self.tonnes = collections.Counter()
        self.faults = collections.Counter()
        self.by_lorry = collections.defaultdict(list)
        self.waits = []

    def add(self, lorry):
        self.tonnes[lorry.rock] += net(lorry) / 1000
        found = list(faults(lorry))
        self.faults.update(found)
        self.by_lorry[lorry.number].append((lorry.seconds, len(found)))

    def banned(self):
        """Three faults in a day."""
        return [number for number, visits in self.by_lorry.items() if sum(count for _, count in visits) >= 3]

    def rounds(self):
        """Median time between two visits of a lorry."""
        between = sorted(after[0] - before[0] for visits in self.by_lorry.values()
                         for before, after in zip(visits, visits[1:]))
        return between[len(between) // 2] if between else 0


def slip(lorry):
    """The line on the driver's slip, of which the length is printed on the roll's counter."""
    return f"{lorry.number:04d} {lorry.rock:<10} {net(lorry) / 1000:7.2f} t {lorry.seconds // 3600:02d}h"


def day(rng, reading):
    ledger, printed = Ledger(), 0
    for lorry in reading(lines(rng, 400)):
        ledger.add(lorry)
        printed += len(slip(lorry))
    return [printed, len(ledger.banned()), ledger.rounds(), *(ledger.faults[name] for name in ("total", "axle", "end")),
            *(round(ledger.tonnes[rock], 3) for rock in ROCKS)]


def work(days, reading):
    rng = random.Random(7205)
    return [day(rng, reading) for _ in range(days)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, read), lambda n: work(n, read_fixed), repeats=520)
