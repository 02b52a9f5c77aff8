# SPDX-License-Identifier: Apache-2.0
"""Ferries: bookings come in one by one, each against the deck that is left; a database keeps them and is asked."""

import collections
import random
import sqlite3

import harness

SCHEMA = """
    CREATE TABLE sailing (id INTEGER PRIMARY KEY, route TEXT, day INTEGER, metres REAL, berths INTEGER);
    CREATE TABLE booking (id INTEGER PRIMARY KEY, sailing INTEGER, party INTEGER, metres REAL, berths INTEGER,
                          cents INTEGER);
    CREATE INDEX booking_sailing ON booking (sailing);
    CREATE INDEX sailing_route ON sailing (route, day);
    CREATE INDEX sailing_day ON sailing (day);
"""
ROUTES = ("Oban", "Craignure", "Tiree", "Barra", "Mallaig")
VEHICLES = {"foot": 0.0, "car": 4.8, "van": 6.2, "lorry": 12.5, "coach": 13.0}
OUTCOMES = ("booked", "waits", "refused", "cancelled")
KINDS, OFTEN = list(VEHICLES), (30, 80, 90, 98, 100)
TAKE = "UPDATE sailing SET metres = metres - ?, berths = berths - ? WHERE id = ?"
NEXT = """
    SELECT id, day FROM sailing WHERE route = ? AND day BETWEEN ? AND ? AND metres >= ? AND berths >= ?
    ORDER BY day LIMIT 1
"""
ENTER = "INSERT INTO booking (sailing, party, metres, berths, cents) VALUES (?, ?, ?, ?, ?)"
LEAVE = "DELETE FROM booking WHERE id = ? RETURNING sailing, metres, berths, cents"
GIVE = "UPDATE sailing SET metres = metres + ?, berths = berths + ? WHERE id = ?"
LOAD = """
    SELECT route, count(*), sum(booking.cents), sum(booking.metres) FROM booking JOIN sailing
    ON sailing.id = booking.sailing WHERE sailing.day = ? GROUP BY route
"""


class Office:
    def __init__(self, rng, days):
        self.rng = rng
        self.database = sqlite3.connect(":memory:", isolation_level=None)
        self.database.executescript(SCHEMA)
        self.database.execute("BEGIN")
        self.database.executemany("INSERT INTO sailing (route, day, metres, berths) VALUES (?, ?, ?, ?)", (
            (route, day, rng.choice((160.0, 220.0, 300.0)), rng.randrange(200, 500))
            for day in range(days) for route in ROUTES))
        self.outcomes = collections.Counter()

    def price(self, vehicle, party, ahead):
        """Early bookings are cheaper; in the last days the price rises."""
        base = 850 * party + round(620 * VEHICLES[vehicle])
        return round(base * (0.8 if ahead > 20 else 1.0 if ahead > 5 else 1.25))

    def book(self, today):
        rng = self.rng
        vehicle = rng.choices(KINDS, cum_weights=OFTEN)[0]
        party = rng.randrange(20, 50) if vehicle == "coach" else rng.randrange(1, 6)
        route, wanted, metres = rng.choice(ROUTES), today + rng.randrange(30), VEHICLES[vehicle]
        found = self.database.execute(NEXT, (route, wanted, wanted + 3, metres, party)).fetchone()
        if found is None:
            self.outcomes["refused"] += 1
            return
        sailing, day = found
        self.database.execute(TAKE, (metres, party, sailing))
        self.database.execute(ENTER, (sailing, party, metres, party, self.price(vehicle, party, day - today)))
        self.outcomes["waits" if day > wanted else "booked"] += 1

    def cancel(self, last):
        row = self.database.execute(LEAVE, (self.rng.randrange(1, last + 1),)).fetchone()
        if row:
            sailing, metres, berths, cents = row
            self.database.execute(GIVE, (metres, berths, sailing))
            self.outcomes["cancelled"] += cents // 2

    def manifest(self, day):
        """What sails today, by route."""
        rows = {route: more for route, *more in self.database.execute(LOAD, (day,))}
        return [value for route in ROUTES for value in rows.get(route, (0, 0, 0.0))]


def work(days):
    rng, rows = random.Random(7120), []
    office, last = Office(rng, days + 40), 0
    for day in range(days):
        for _ in range(260):
            office.book(day)
        last = office.database.execute("SELECT max(id) FROM booking").fetchone()[0]
        for _ in range(25):
            office.cancel(last)
        rows.append(office.manifest(day) + [office.outcomes[name] for name in OUTCOMES])
    office.database.close()
    return rows


if __name__ == "__main__":
    harness.main(work, repeats=2200)
