# SPDX-License-Identifier: Apache-2.0
"""Bank statements are summed by week; the text of each booking's day is parsed again though a quarter has 92 days."""

import csv
import datetime
import io
import random

import harness

CATEGORY = "repeated native calls"
KIND = "store"
FORMAT = "%d.%m.%Y"
PURPOSES = ("rent", "groceries", "salary", "insurance", "travel", "books")


def statement(random_source, rows):
    first = datetime.date(2024, 1, 1)
    file = io.StringIO()
    writer = csv.writer(file, delimiter=";")
    for number in range(rows):
        day = first + datetime.timedelta(days=number * 91 // rows)
        cents = random_source.randrange(-200000, 250000)
        writer.writerow([day.strftime(FORMAT), random_source.choice(PURPOSES), cents])
    return file.getvalue()


def weekly(text):
    sums = [0] * 54
    for day, purpose, cents in csv.reader(io.StringIO(text), delimiter=";"):
        date = datetime.datetime.strptime(day, FORMAT)  # waste: store
        if purpose != "salary":
            sums[date.isocalendar()[1]] += int(cents)
    return sums


def weekly_fixed(text):
    sums, known = [0] * 54, {}
    for day, purpose, cents in csv.reader(io.StringIO(text), delimiter=";"):
        date = known.get(day)
        if date is None:
            date = known[day] = datetime.datetime.strptime(day, FORMAT)
        if purpose != "salary":
            sums[date.isocalendar()[1]] += int(cents)
    return sums


def work(repeats, group):
    random_source = random.Random(102)
    statements = [statement(random_source, 5000) for _ in range(4)]
    return [group(statements[number % 4]) for number in range(repeats)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, weekly), lambda n: work(n, weekly_fixed), repeats=160)
