# SPDX-License-Identifier: Apache-2.0
"""How far ringed birds flew: each season has its table of sightings, asked for ring after ring without an index."""

import random
import sqlite3

import harness

CATEGORY = "inefficient algorithm"
KIND = "load"
RINGS, SITES = 1500, 60
QUERY = "SELECT day, site FROM sightings WHERE ring = ? ORDER BY day, site"


def observatory(random_source):
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE sightings (day INTEGER, ring TEXT, site INTEGER, observer TEXT)")
    rows = (
        (day, f"DEW{random_source.randrange(RINGS):05}", random_source.randrange(SITES), f"club {day % 11}")
        for day in range(700)
        for _ in range(20)
    )
    base.executemany("INSERT INTO sightings VALUES (?, ?, ?, ?)", rows)
    base.commit()
    return base


def without_index(base):
    """The table as it was made."""


def with_index(base):
    base.execute("CREATE INDEX by_ring ON sightings (ring, day)")


def flown(base, places, ring):
    """Kilometres between sightings, and days between the first and the last one."""
    seen = base.execute(QUERY, (ring,)).fetchall()  # waste: load
    if not seen:
        return 0.0, 0
    way = sum(abs(places[later[1]] - places[earlier[1]]) for earlier, later in zip(seen, seen[1:]))
    return way, seen[-1][0] - seen[0][0]


def work(repeats, prepare):
    random_source = random.Random(404)
    places = [complex(random_source.uniform(0, 800), random_source.uniform(0, 900)) for _ in range(SITES)]
    found = []
    for _ in range(repeats):
        base = observatory(random_source)
        prepare(base)
        ways = [flown(base, places, f"DEW{number:05}") for number in random_source.sample(range(RINGS), 500)]
        found.append([max(way for way, _ in ways), sum(days for _, days in ways)])
        base.close()
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, without_index), lambda n: work(n, with_index), repeats=16)
