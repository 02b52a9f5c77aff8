# SPDX-License-Identifier: Apache-2.0
"""Votes of polling stations, sent line by line as comma-separated values; each line gets a reader of its own."""

import collections
import csv
import io
import random

import harness

CATEGORY = "API misuse"
KIND = "load"
PARTIES = ("Blue", "Green", "Orange, United", "Red", 'The "New" List', "Yellow")


def report(random_source, stations):
    """The lines of one evening; a station without a result yet leaves its number empty."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    for station in range(stations):
        for party in PARTIES:
            votes = random_source.randrange(0, 900) if random_source.random() > 0.05 else ""
            writer.writerow([f"{station:05}", f"Ward {station % 40}", party, votes])
    return file.getvalue().splitlines()


def fields(lines):
    for line in lines:
        yield next(csv.reader([line]))  # waste: load


def fields_fixed(lines):
    return csv.reader(lines)


def result(rows):
    """Votes by party, missing numbers, and the strongest ward of the last party."""
    votes, wards, missing = collections.Counter(), collections.Counter(), 0
    for _, ward, party, number in rows:
        if not number:
            missing += 1
            continue
        votes[party] += int(number)
        if party == PARTIES[-1]:
            wards[ward] += int(number)
    return [missing, max(wards.values()), *(votes[party] for party in PARTIES)]


def work(repeats, split):
    random_source = random.Random(410)
    evenings = [report(random_source, 3000) for _ in range(5)]
    found = []
    for number in range(repeats):
        lines = [f"{number:03}-{line}" for line in evenings[number % 5]]  # of another district
        found.append(result(split(lines)))
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, fields), lambda n: work(n, fields_fixed), repeats=250)
