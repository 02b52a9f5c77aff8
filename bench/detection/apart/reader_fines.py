# SPDX-License-Identifier: Apache-2.0
"""Library fines: loans that are overdue are priced by the class of the book and the kind of the reader, in SQLite."""

import collections
import random
import sqlite3

import harness

# Two statements for each loan look up its reader and book; a join gets all of them in one: API misuse.
CATEGORY = "API misuse"
KIND = "load"
SCHEMA = """
    CREATE TABLE reader (id INTEGER PRIMARY KEY, name TEXT, kind TEXT, is_exempt INTEGER);
    CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT, class TEXT, price INTEGER);
    CREATE TABLE loan (id INTEGER PRIMARY KEY, reader INTEGER, book INTEGER, due INTEGER, returned INTEGER);
    CREATE INDEX loan_due ON loan (due);
"""
KINDS = ("child", "student", "adult", "senior")
CLASSES = ("fiction", "science", "history", "music", "film", "maps")
RATES = {"child": 5, "student": 15, "adult": 25, "senior": 15}
FACTORS = {"fiction": 1.0, "science": 1.5, "history": 1.0, "music": 2.0, "film": 4.0, "maps": 3.0}
READER = "SELECT kind, is_exempt FROM reader WHERE id = ?"
BOOK = "SELECT class, price FROM book WHERE id = ?"
OVERDUE = "SELECT id, reader, book, due, returned FROM loan WHERE due < ? AND (returned IS NULL OR returned > due)"
JOINED = """
    SELECT loan.id, loan.reader, loan.book, due, returned, kind, is_exempt, class, price
    FROM loan JOIN reader ON reader.id = loan.reader JOIN book ON book.id = loan.book
    WHERE due < ? AND (returned IS NULL OR returned > due) ORDER BY loan.id
"""


def fill(database, rng, readers=700, books=2500):
    database.executescript(SCHEMA)
    database.executemany("INSERT INTO reader VALUES (?, ?, ?, ?)", (
        (number, f"Reader {number}", rng.choice(KINDS), rng.random() < 0.05) for number in range(readers)))
    database.executemany("INSERT INTO book VALUES (?, ?, ?, ?)", (
        (number, f"Book {number}", rng.choice(CLASSES), rng.randrange(600, 6000)) for number in range(books)))
    return readers, books


def lend(database, rng, day, sizes, count=60):
    """A day at the desk: loans go out, and some of the older ones come back."""
    database.executemany("INSERT INTO loan (reader, book, due) VALUES (?, ?, ?)", (
        (rng.randrange(sizes[0]), rng.randrange(sizes[1]), day + rng.choice((14, 21, 28))) for _ in range(count)))
    if day % 5 == 0:
        database.execute("UPDATE loan SET returned = ? WHERE returned IS NULL AND (id * 7 + ?) % 23 < 5", (day, day))


def overdue(database, day):
    for loan in database.execute(OVERDUE + " ORDER BY id", (day,)).fetchall():
        reader = database.execute(READER, (loan[1],)).fetchone()  # waste: load
        book = database.execute(BOOK, (loan[2],)).fetchone()  # waste: load
        yield loan + reader + book


def overdue_fixed(database, day):
    return database.execute(JOINED, (day,))


def fine(days, kind, class_, price):
    """In cents: from the third day on, never more than the book."""
    return min(round(max(0, days - 2) * RATES[kind] * FACTORS[class_]), price)


def letters(rows, day):
    """Fines by reader, and what the classes bring in."""
    fines, classes = collections.Counter(), collections.Counter()
    for _, reader, _, due, returned, kind, is_exempt, class_, price in rows:
        if is_exempt:
            continue
        cents = fine((returned or day) - due, kind, class_, price)
        fines[reader] += cents
        classes[class_] += cents
    return fines, classes


def work(days, finding):
    rng, rows = random.Random(7204), []
    database = sqlite3.connect(":memory:")
    sizes = fill(database, rng)
    for day in range(days):
        lend(database, rng, day, sizes)
        database.execute("DELETE FROM loan WHERE due < ?", (day - 60,))
        fines, classes = letters(finding(database, day), day)
        rows.append([len(fines), sum(fines.values()), *(classes[name] for name in CLASSES)])
    database.close()
    return rows


if __name__ == "__main__":
    harness.main(lambda n: work(n, overdue), lambda n: work(n, overdue_fixed), repeats=2100)
