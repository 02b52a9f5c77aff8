# SPDX-License-Identifier: Apache-2.0
"""Value added tax of a mail order house: for each line of an order, its rate is fetched from the database."""

import random
import sqlite3
from decimal import Decimal

import harness

# Few countries and classes, and the table of rates never changes: repeated native calls. That the rates become decimals
# by way of text each time is a second and smaller waste.
CATEGORY = "repeated native calls"
KIND = "load"
COUNTRIES = "AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK".split()
CLASSES = ["standard", "food", "books", "medicine"]
CENT = Decimal("0.01")


class Shop:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.db = sqlite3.connect(":memory:")
        self.db.executescript("""
            CREATE TABLE country (id INTEGER PRIMARY KEY, code TEXT UNIQUE);
            CREATE TABLE rate (country INTEGER, class TEXT, since TEXT, percent TEXT, PRIMARY KEY (country, class, since));
            CREATE TABLE invoice (id INTEGER PRIMARY KEY, country TEXT, net INTEGER, tax INTEGER, sold TEXT);
        """)
        for number, code in enumerate(COUNTRIES):
            self.db.execute("INSERT INTO country VALUES (?, ?)", (number, code))
            for name in CLASSES:
                for year in (1995, 2003, 2011, 2016):
                    row = number, name, f"{year}-01-01", f"{self.rng.randrange(50, 270) / 10}"
                    self.db.execute("INSERT INTO rate VALUES (?, ?, ?, ?)", row)

    def order(self):
        lines = [(self.rng.choice(CLASSES), Decimal(self.rng.randrange(99, 20000)).scaleb(-2), self.rng.randrange(1, 4))
                 for _ in range(self.rng.randrange(1, 25))]
        return self.rng.choice(COUNTRIES), f"2017-{self.rng.randrange(1, 13):02d}-15", lines

    def rate(self, country, kind, day):
        row = self.db.execute(  # waste: load
            "SELECT percent FROM rate JOIN country ON country.id = rate.country "  # waste: load
            "WHERE code = ? AND class = ? AND since <= ? ORDER BY since DESC LIMIT 1", (country, kind, day)).fetchone()  # waste: load
        return Decimal(row[0]) / 100

    def invoice(self, number):
        country, day, lines = self.order()
        net = tax = Decimal(0)
        for kind, price, count in lines:
            amount = price * count
            net += amount
            tax += (amount * self.rate(country, kind, day)).quantize(CENT)  # waste: load
        self.db.execute("INSERT INTO invoice VALUES (?, ?, ?, ?, ?)", (number, country, int(net * 100), int(tax * 100), day))
        return f"{net:.2f} + {tax:.2f} = {net + tax:.2f}"

    def declaration(self):
        """What goes to the tax offices."""
        rows = self.db.execute("SELECT country, sum(net), sum(tax), count(*) FROM invoice GROUP BY country ORDER BY country")
        return [value for row in rows for value in row[1:]]


class FixedShop(Shop):
    def __init__(self, seed):
        super().__init__(seed)
        self.rates = {}

    def rate(self, country, kind, day):
        key = country, kind, day
        if key not in self.rates:
            self.rates[key] = super().rate(*key)
        return self.rates[key]


def work(invoices, kind):
    shop = kind(1993)
    sizes = [len(shop.invoice(number)) for number in range(invoices)]
    return [sum(sizes), *shop.declaration()]


if __name__ == "__main__":
    harness.main(lambda n: work(n, Shop), lambda n: work(n, FixedShop), repeats=75000)
