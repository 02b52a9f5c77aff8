# SPDX-License-Identifier: Apache-2.0
"""Which parts does an order of bicycles need? Bills of material in SQLite, followed down by recursive queries."""

import random
import sqlite3

import harness

SCHEMA = """
CREATE TABLE part (id INTEGER PRIMARY KEY, name TEXT, price REAL, stock INTEGER);
CREATE TABLE uses (whole INTEGER, piece INTEGER, amount INTEGER, PRIMARY KEY (whole, piece)) WITHOUT ROWID;
CREATE TABLE booking (id INTEGER PRIMARY KEY, part INTEGER, amount INTEGER, orders INTEGER);
CREATE INDEX booking_part ON booking (part);
"""
NEEDS = """
WITH RECURSIVE need (part, amount) AS (
    SELECT ?, ? UNION ALL SELECT uses.piece, need.amount * uses.amount FROM need JOIN uses ON uses.whole = need.part)
SELECT need.part, sum(need.amount), part.price, part.stock FROM need JOIN part ON part.id = need.part
WHERE NOT EXISTS (SELECT 1 FROM uses WHERE whole = need.part) GROUP BY need.part
"""


class Works:
    def __init__(self, rng, levels=5, width=40):
        self.rng = rng
        self.file = sqlite3.connect(":memory:", isolation_level=None)
        self.file.executescript(SCHEMA)
        self.width, self.levels = width, levels
        self.file.execute("BEGIN")
        self.file.executemany("INSERT INTO part VALUES (?, ?, ?, ?)", self.parts())
        self.file.executemany("INSERT OR IGNORE INTO uses VALUES (?, ?, ?)", self.links())
        self.file.execute("COMMIT")

    def parts(self):
        for number in range(self.levels * self.width):
            yield number, f"part {number}", round(self.rng.lognormvariate(1, 1), 2), self.rng.randrange(200, 4000)

    def links(self):
        """Parts of a level consist of parts of the next one."""
        for whole in range((self.levels - 1) * self.width):
            level = whole // self.width + 1
            for piece in self.rng.sample(range(level * self.width, (level + 1) * self.width), 4):
                yield whole, piece, self.rng.randrange(1, 4)

    def order(self, number):
        """Takes what an order needs off the stock; buys what lacks."""
        bicycle, amount = self.rng.randrange(self.width), self.rng.randrange(1, 6)
        rows = self.file.execute(NEEDS, (bicycle, amount)).fetchall()
        bought = [(part, need - stock) for part, need, _, stock in rows if need > stock]
        self.file.execute("BEGIN")
        self.file.executemany("UPDATE part SET stock = stock + 3000 WHERE id = ?", [(part,) for part, _ in bought])
        self.file.executemany("UPDATE part SET stock = stock - ? WHERE id = ?", [(need, part) for part, need, *_ in rows])
        self.file.executemany("INSERT INTO booking (part, amount, orders) VALUES (?, ?, ?)",
                              [(part, need, number) for part, need, *_ in rows])
        self.file.execute("COMMIT")
        return sum(need * price for _, need, price, _ in rows), len(bought)

    def busiest(self):
        return self.file.execute("SELECT part, sum(amount) FROM booking GROUP BY part ORDER BY 2 DESC, 1 LIMIT 5").fetchall()


def work(months):
    rng, found = random.Random(117), []
    for _ in range(months):
        works = Works(rng)
        costs, bought = zip(*(works.order(number) for number in range(60)))
        found.append([sum(costs) / 1e6, sum(bought), works.busiest()[0][1] / 1e4])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=270)
