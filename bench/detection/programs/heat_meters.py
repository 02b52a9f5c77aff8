# SPDX-License-Identifier: Apache-2.0
"""Bills for district heating: a table without an index is searched from end to end for each flat."""

import random
import sqlite3

import harness

# Every query reads all readings to find those of one flat, so the work grows with flats times readings. The same
# statement is quick on an index; the way to the rows is wrong, not the call: inefficient algorithm.
CATEGORY = "inefficient algorithm"
KIND = "load"
FLATS = 260
TARIFFS = {"day": 0.121, "night": 0.094, "peak": 0.163}

SCHEMA = """
CREATE TABLE flats (id INTEGER PRIMARY KEY, area REAL NOT NULL, floor INTEGER NOT NULL);
CREATE TABLE readings (flat INTEGER NOT NULL, day INTEGER NOT NULL, tariff TEXT NOT NULL, kwh REAL NOT NULL);
"""
INDEX = "CREATE INDEX readings_of_flats ON readings (flat, day)"


class House:
    """One database for each block of flats and season."""

    def __init__(self, source):
        self.random = source
        self.store = sqlite3.connect(":memory:")
        self.store.executescript(SCHEMA)

    def move_in(self):
        rows = [(number, self.random.uniform(28.0, 120.0), self.random.randrange(7)) for number in range(FLATS)]
        self.store.executemany("INSERT INTO flats VALUES (?, ?, ?)", rows)

    def readings(self, days):
        """Radio meters report now and then, and not in any order."""
        tariffs = list(TARIFFS)
        for day in range(days):
            cold = 1.0 + 0.8 * (abs(day - days / 2) < days / 5)
            for _ in range(FLATS // 4):
                use = self.random.gammavariate(2.0, 3.5) * cold
                yield self.random.randrange(FLATS), day, self.random.choice(tariffs), round(use, 2)

    def record(self, days):
        self.store.executemany("INSERT INTO readings VALUES (?, ?, ?, ?)", self.readings(days))

    def used(self, flat, first, last):
        """Kilowatt hours by tariff."""
        return dict(self.store.execute(  # waste: load
            "SELECT tariff, sum(kwh) FROM readings WHERE flat = ? AND day BETWEEN ? AND ? GROUP BY tariff",  # waste: load
            (flat, first, last)))  # waste: load

    def bill(self, flat, area, first, last):
        """Thirty per cent by area, the rest by what the meter says; floors under the roof get something back."""
        used = self.used(flat, first, last)
        cost = sum(TARIFFS[tariff] * kwh for tariff, kwh in used.items())
        return 0.7 * cost + 0.3 * 0.11 * area * (last - first + 1) / 30.0


class FixedHouse(House):
    def record(self, days):
        super().record(days)
        self.store.execute(INDEX)


def work(seasons, kind):
    source = random.Random(1877_07)
    found = []
    for _ in range(seasons):
        house = kind(source)
        house.move_in()
        house.record(180)
        flats = house.store.execute("SELECT id, area FROM flats ORDER BY id").fetchall()
        for first in range(0, 180, 60):
            bills = [house.bill(flat, area, first, first + 59) for flat, area in flats]
            found.append([sum(bills), max(bills), min(bills)])
        house.store.close()
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, House), lambda n: work(n, FixedHouse), repeats=23)
