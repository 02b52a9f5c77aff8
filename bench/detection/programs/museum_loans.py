# SPDX-License-Identifier: Apache-2.0
"""Insurance of a museum's loans: three more queries for each loan that the first query found, where a join would do."""

import random
import sqlite3

import harness

CATEGORY = "API misuse"
KIND = "load"
WORKS, HOUSES, COUNTRIES = 4_000, 150, 30
SCHEMA = """
    CREATE TABLE work (id INTEGER PRIMARY KEY, title TEXT, value INTEGER, is_fragile INTEGER);
    CREATE TABLE country (id INTEGER PRIMARY KEY, name TEXT, percent INTEGER);
    CREATE TABLE house (id INTEGER PRIMARY KEY, name TEXT, country_id INTEGER, guards INTEGER);
    CREATE TABLE loan (id INTEGER PRIMARY KEY, work_id INTEGER, house_id INTEGER, days INTEGER);
"""
JOINED = """
    SELECT loan.days, work.value, work.is_fragile, house.guards, country.percent
    FROM loan JOIN work ON work.id = loan.work_id
    JOIN house ON house.id = loan.house_id JOIN country ON country.id = house.country_id
    ORDER BY loan.id
"""


def rows(rng, count, *limits):
    """Numbered from 1, with a random number below each limit."""
    return [(number, *(rng.randrange(limit) for limit in limits)) for number in range(1, count + 1)]


def museum(rng):
    db = sqlite3.connect(":memory:")
    db.executescript(SCHEMA)
    db.executemany("INSERT INTO work VALUES (?, 'untitled', ?, ?)", rows(rng, WORKS, 90_000, 2))
    db.executemany("INSERT INTO country VALUES (?, 'somewhere', ?)", rows(rng, COUNTRIES, 9))
    db.executemany("INSERT INTO house VALUES (?, 'gallery', ? + 1, ?)", rows(rng, HOUSES, COUNTRIES, 5))
    db.executemany("INSERT INTO loan VALUES (?, ? + 1, ? + 1, ?)", rows(rng, 1_500, WORKS, HOUSES, 200))
    return db


def change(db, rng):
    """Some loans come back, others begin, and a few works are valued anew."""
    ends, first = sorted(rng.sample(range(1, 1_501), 60)), rng.randrange(1, WORKS - 40)
    db.executemany(
        "UPDATE loan SET work_id = ?, house_id = ?, days = ? WHERE id = ?",
        [(1 + rng.randrange(WORKS), 1 + rng.randrange(HOUSES), rng.randrange(10, 200), number) for number in ends],
    )
    db.execute("UPDATE work SET value = value * 11 / 10 % 90000 WHERE id BETWEEN ? AND ? + 40", (first, first))


def premium(days, value, is_fragile, guards, percent):
    """In cents."""
    return value * (2 + percent) * days * (3 if is_fragile else 2) // (730 + 100 * guards)


def work_of(db, number):
    return db.execute("SELECT value, is_fragile FROM work WHERE id = ?", (number,)).fetchone()  # waste: load


def house_of(db, number):
    query = "SELECT guards, country_id FROM house WHERE id = ?"
    guards, country = db.execute(query, (number,)).fetchone()  # waste: load
    percent = db.execute("SELECT percent FROM country WHERE id = ?", (country,)).fetchone()[0]  # waste: load
    return guards, percent


def premiums(db):
    for work_id, house_id, days in db.execute("SELECT work_id, house_id, days FROM loan ORDER BY id"):
        yield premium(days, *work_of(db, work_id), *house_of(db, house_id))  # waste: load


def premiums_fixed(db):
    return (premium(*row) for row in db.execute(JOINED))


def work(repeats, find):
    rng = random.Random(1793)
    db, found = museum(rng), []
    for _ in range(repeats):
        change(db, rng)
        costs = list(find(db))
        found.append([len(costs), sum(costs), max(costs)])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, premiums), lambda n: work(n, premiums_fixed), repeats=540)
