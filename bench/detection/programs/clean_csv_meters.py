# SPDX-License-Identifier: Apache-2.0
"""Readings of meters as comma-separated values: written, read again by a chain of generators, added up by district.

Every file has other readings. Names of districts and the quality mark are the same few strings in all rows.
"""

import collections
import csv
import io
import random

import harness

ROWS = 1000
DISTRICTS = ("north", "east", "south", "west", "old town")
FIELDS = ("meter", "district", "quality", "from", "to")


def file(rng):
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(FIELDS)
    for _ in range(ROWS):
        before = rng.randrange(10**6)
        quality = "ok" if rng.random() < 0.98 else "estimated"
        writer.writerow((rng.randrange(10**5), rng.choice(DISTRICTS), quality, before, before + rng.randrange(500)))
    return out.getvalue()


def readings(text):
    yield from csv.DictReader(io.StringIO(text))


def sure(rows):
    return (row for row in rows if row["quality"] == "ok")


def used(rows):
    for row in rows:
        yield row["district"], int(row["to"]) - int(row["from"])


def work(repeats):
    rng = random.Random(210)
    totals = collections.Counter()
    for _ in range(repeats):
        for district, units in used(sure(readings(file(rng)))):
            totals[district] += units
    return [totals[district] for district in DISTRICTS]


if __name__ == "__main__":
    harness.main(work, repeats=1000)
