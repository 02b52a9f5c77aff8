# SPDX-License-Identifier: Apache-2.0
"""A veterinary practice: the daily list asks the database for the last visits of each animal, one query an animal."""

import random
import sqlite3

import harness

# One grouped query answers for all animals of the day: repeated native calls.
CATEGORY = "repeated native calls"
KIND = "load"
SPECIES = ("dog", "cat", "rabbit", "horse", "parrot", "tortoise")
REASONS = ("vaccination", "teeth", "lameness", "check", "surgery", "skin", "eyes")
SCHEMA = """
CREATE TABLE owner (id INTEGER PRIMARY KEY, name TEXT, town TEXT);
CREATE TABLE animal (id INTEGER PRIMARY KEY, owner INTEGER REFERENCES owner, species TEXT, born INTEGER);
CREATE TABLE visit (id INTEGER PRIMARY KEY, animal INTEGER REFERENCES animal, day INTEGER, reason TEXT, fee INTEGER);
CREATE INDEX visit_animal ON visit (animal);
"""
SUMS = "SELECT count(*), max(day), sum(fee), sum(reason = 'surgery') FROM visit WHERE animal = ? AND day < ?"
ALL_SUMS = """
SELECT animal, count(*), max(day), sum(fee), sum(reason = 'surgery') FROM visit WHERE day < ?
GROUP BY animal ORDER BY animal
"""


def practice(rng, animals):
    db = sqlite3.connect(":memory:")
    db.executescript(SCHEMA)
    owners = [(number, f"owner {number}", f"town {number % 17}") for number in range(animals // 2)]
    db.executemany("INSERT INTO owner VALUES (?, ?, ?)", owners)
    rows = [(number, rng.randrange(len(owners)), rng.choice(SPECIES), rng.randrange(6000)) for number in range(animals)]
    db.executemany("INSERT INTO animal VALUES (?, ?, ?, ?)", rows)
    return db


def add_visits(db, rng, animals, day):
    rows = [(rng.randrange(animals), day, rng.choice(REASONS), rng.randrange(20, 400)) for _ in range(30)]
    db.executemany("INSERT INTO visit (animal, day, reason, fee) VALUES (?, ?, ?, ?)", rows)
    return sorted({row[0] for row in rows})


def histories(db, animals, day):
    found = {}
    for animal in animals:
        row = db.execute(SUMS, (animal, day)).fetchone()  # waste: load
        if row[0]:
            found[animal] = row
    return found


def histories_fixed(db, _, day):
    return {row[0]: row[1:] for row in db.execute(ALL_SUMS, (day,))}


def overdue(found, day):
    """Animals that did not come for a while, those with the most visits first."""
    late = [(-row[0], animal) for animal, row in found.items() if day - row[1] > 40]
    return [animal for _, animal in sorted(late)[:20]]


def letters(db, animals):
    marks = ",".join("?" * len(animals))
    rows = db.execute("SELECT name, town, species FROM animal JOIN owner ON owner.id = owner"
                      f" WHERE animal.id IN ({marks}) ORDER BY animal.id", animals)
    return [f"Dear {name} of {town}, your {species} is due for a check." for name, town, species in rows]


def season(rng, animals, days, history):
    db, rows = practice(rng, animals), []
    for day in range(days):
        came = add_visits(db, rng, animals, day)
        found = history(db, range(animals), day)
        sent = letters(db, overdue(found, day))
        known = sum(1 for animal in came if animal in found)
        rows.append([len(came), known, len(sent), sum(map(len, sent)), sum(row[2] for row in found.values()),
                     sum(row[3] for row in found.values())])
    db.close()
    return rows


def work(practices, history):
    rng = random.Random(615)
    return [row for _ in range(practices) for row in season(rng, 900, 150, history)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, histories), lambda n: work(n, histories_fixed), repeats=16)
