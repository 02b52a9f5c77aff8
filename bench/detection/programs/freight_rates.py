# SPDX-License-Identifier: Apache-2.0
"""Freight bills: the rate that was valid on a day is looked up, but all older rates of the lane are fetched, too."""

import dataclasses
import random
import sqlite3

import harness

CATEGORY = "API misuse"
KIND = "load"
LANES, DAYS = 40, 2_000
VALID = "SELECT rate, fuel FROM rates WHERE lane = ? AND day <= ? ORDER BY day DESC"


@dataclasses.dataclass
class Shipment:
    lane: int
    day: int
    kilograms: int


def rate_book(random_source):
    """Rates of each lane; they change every few days."""
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE rates (lane INT, day INT, rate REAL, fuel REAL, PRIMARY KEY (lane, day))")
    for lane in range(LANES):
        rate = random_source.uniform(0.1, 0.9)
        for day in range(0, DAYS, 2):
            rate *= random_source.uniform(0.99, 1.0102)
            row = (lane, day + random_source.randrange(2) * (day > 0), rate, random_source.uniform(0.0, 0.2))
            database.execute("INSERT INTO rates VALUES (?, ?, ?, ?)", row)
    database.commit()
    return database


def valid_rate(database, lane, day):
    rows = database.execute(VALID, (lane, day)).fetchall()  # waste: load
    return rows[0]


def valid_rate_fixed(database, lane, day):
    return database.execute(VALID + " LIMIT 1", (lane, day)).fetchone()


def bill(shipment, database, look_up):
    rate, fuel = look_up(database, shipment.lane, shipment.day)  # waste: load
    charged = max(shipment.kilograms, 45) * rate
    return round(charged * (1.0 + fuel) + 12.5, 2)


def shipments(random_source, count):
    for _ in range(count):
        yield Shipment(random_source.randrange(LANES), random_source.randrange(DAYS), random_source.randrange(5, 900))


def work(repeats, look_up):
    random_source = random.Random(1784)
    database = rate_book(random_source)
    due = [0.0] * LANES
    for shipment in shipments(random_source, repeats):
        due[shipment.lane] += bill(shipment, database, look_up)
    return due


if __name__ == "__main__":
    harness.main(lambda n: work(n, valid_rate), lambda n: work(n, valid_rate_fixed), repeats=16_000)
