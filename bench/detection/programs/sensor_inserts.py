# SPDX-License-Identifier: Apache-2.0
"""Readings of sensors go into a table; each INSERT has its values in its text, so SQLite parses it anew."""

import random
import sqlite3

import harness

CATEGORY = "API misuse"
KIND = "store"
TABLE = "CREATE TABLE readings (sensor INTEGER, minute INTEGER, celsius REAL, humidity REAL, state TEXT)"
SUMMARY = """SELECT sensor, count(*), avg(celsius), max(humidity), sum(state = 'warm')
             FROM readings WHERE minute >= ? GROUP BY sensor ORDER BY sensor"""


def readings(random_source, minutes):
    for minute in range(minutes):
        for sensor in range(10):
            celsius = round(random_source.gauss(18.0 + sensor / 2, 4.0), 2)
            state = "warm" if celsius > 22.0 else "usual"
            yield sensor, minute, celsius, round(random_source.uniform(30.0, 80.0), 1), state


def store(database, rows):
    cursor = database.cursor()
    for sensor, minute, celsius, humidity, state in rows:
        cursor.execute(  # waste: store
            "INSERT INTO readings (sensor, minute, celsius, humidity, state) "
            f"VALUES ({sensor}, {minute}, {celsius}, {humidity}, '{state}')"
        )
    database.commit()


def store_fixed(database, rows):
    database.executemany("INSERT INTO readings (sensor, minute, celsius, humidity, state) VALUES (?, ?, ?, ?, ?)", rows)
    database.commit()


def work(repeats, save):
    random_source = random.Random(706)
    found = []
    for _ in range(repeats):
        database = sqlite3.connect(":memory:")
        database.execute(TABLE)
        save(database, readings(random_source, 500))
        found.append(database.execute(SUMMARY, (60,)).fetchall())
        database.close()
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, store), lambda n: work(n, store_fixed), repeats=140)
