# SPDX-License-Identifier: Apache-2.0
"""Exports an archive of letters page by page with LIMIT and OFFSET, so each page walks over all pages before it."""

import random
import sqlite3
import zlib

import harness

# The statement is right and its parameters differ; its work grows with the square of the pages: inefficient algorithm.
CATEGORY = "inefficient algorithm"
KIND = "load"
PAGE = 100
WORDS = "harvest letter ship winter mother price salt house the and of to grain field tax river horse church".split()

rng = random.Random(1848)


def fill(db, letters):
    db.execute("CREATE TABLE letters (id INTEGER PRIMARY KEY, written TEXT, sender TEXT, body TEXT)")
    db.execute("CREATE INDEX by_date ON letters (written, id)")
    rows = []
    for i in range(letters):
        date = f"18{rng.randrange(20, 90)}-{rng.randrange(1, 13):02d}-{rng.randrange(1, 29):02d}"
        rows.append((i, date, f"sender {rng.randrange(700)}", " ".join(rng.choices(WORDS, k=rng.randrange(8, 40)))))
    db.executemany("INSERT INTO letters VALUES (?, ?, ?, ?)", rows)


def pages(db):
    offset = 0
    while True:
        rows = db.execute("SELECT id, written, sender, body FROM letters ORDER BY written, id "  # waste: load
                          "LIMIT ? OFFSET ?", (PAGE, offset)).fetchall()  # waste: load
        if not rows:
            return
        yield rows
        offset += PAGE


def pages_fixed(db):
    last = ("", -1)
    while True:
        rows = db.execute("SELECT id, written, sender, body FROM letters WHERE (written, id) > (?, ?) "
                          "ORDER BY written, id LIMIT ?", (*last, PAGE)).fetchall()
        if not rows:
            return
        yield rows
        last = rows[-1][1], rows[-1][0]


def export(page):
    lines = []
    for number, written, sender, body in page:
        year, month, day = written.split("-")
        shown = body if len(body) < 120 else body[:117] + "..."
        lines.append(f"{number:06d}\t{day}.{month}.{year}\t{sender.title():<20}\t{shown}")
    text = "\n".join(lines).encode()
    return len(zlib.compress(text, 6)), zlib.crc32(text) % 1000


def work(archives, paginate):
    result = []
    for _ in range(archives):
        db = sqlite3.connect(":memory:")
        fill(db, 20000)
        for page in paginate(db):
            result.extend(export(page))
        db.close()
    return result


if __name__ == "__main__":
    harness.main(lambda n: work(n, pages), lambda n: work(n, pages_fixed), repeats=15)
