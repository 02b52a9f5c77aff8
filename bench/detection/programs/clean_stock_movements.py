# SPDX-License-Identifier: Apache-2.0
"""Stock of a warehouse from its movements: one statement with windows for each report, rows written in bulk."""

import random
import sqlite3

import harness

SCHEMA = """
CREATE TABLE articles (id INTEGER PRIMARY KEY, name TEXT NOT NULL, minimum INTEGER NOT NULL);
CREATE TABLE movements (article INTEGER NOT NULL, day INTEGER NOT NULL, seq INTEGER NOT NULL, pieces INTEGER NOT NULL,
                        cents INTEGER NOT NULL, PRIMARY KEY (article, day, seq)) WITHOUT ROWID;
"""

# The stock after each movement, and the days on which it fell below its minimum.
SHORTAGES = """
WITH levels AS (
    SELECT article, day, sum(pieces) OVER (PARTITION BY article ORDER BY day, seq) AS level,
           lead(day) OVER (PARTITION BY article ORDER BY day, seq) AS next_day
    FROM movements)
SELECT article, count(*), sum(coalesce(next_day, :last) - day), min(level)
FROM levels JOIN articles ON articles.id = article
WHERE level < minimum
GROUP BY article ORDER BY article"""

TURNOVER = """
SELECT day / 30 AS month, sum(CASE WHEN pieces < 0 THEN -pieces * cents ELSE 0 END) AS sold,
       sum(CASE WHEN pieces > 0 THEN pieces * cents ELSE 0 END) AS bought
FROM movements GROUP BY month ORDER BY month"""

BEST = """
SELECT month, article, sold FROM (
    SELECT day / 30 AS month, article, -sum(pieces) AS sold,
           rank() OVER (PARTITION BY day / 30 ORDER BY sum(pieces)) AS place
    FROM movements WHERE pieces < 0 GROUP BY month, article)
WHERE place <= 3 ORDER BY month, place, article"""


class Warehouse:
    def __init__(self, source, articles):
        self.random, self.articles = source, articles
        self.store = sqlite3.connect(":memory:")
        self.store.executescript(SCHEMA)
        rows = ((number, f"part {number:04}", source.randrange(5, 40)) for number in range(articles))
        self.store.executemany("INSERT INTO articles VALUES (?, ?, ?)", rows)

    def movements(self, days):
        """Small sales, large deliveries."""
        for day in range(days):
            for seq in range(self.random.randrange(20, 60)):
                article = int(self.articles * self.random.random() ** 2)
                sale = self.random.random() < 0.85
                pieces = -self.random.randrange(1, 9) if sale else self.random.randrange(10, 50)
                yield article, day, seq, pieces, 150 + article * 7 % 900

    def fill(self, days):
        with self.store:
            self.store.executemany("INSERT INTO movements VALUES (?, ?, ?, ?, ?)", self.movements(days))

    def report(self, days):
        short = self.store.execute(SHORTAGES, {"last": days}).fetchall()
        months = self.store.execute(TURNOVER).fetchall()
        best = self.store.execute(BEST).fetchall()
        return [len(short), sum(row[2] for row in short), sum(row[1] - row[2] for row in months),
                sum(place * article for place, (_, article, _) in enumerate(best))]


def work(warehouses):
    source = random.Random(1884)
    found = []
    for _ in range(warehouses):
        warehouse = Warehouse(source, 150)
        warehouse.fill(120)
        found.append(warehouse.report(120))
        warehouse.store.close()
    return found


if __name__ == "__main__":
    harness.main(work, repeats=330)
