# SPDX-License-Identifier: Apache-2.0
"""When trades must be paid: two business days later, by the calendar of the exchange, which is built for each trade."""

import datetime
import random

import numpy as np

import harness

CATEGORY = "repeated native calls"
KIND = "store"
FIRST = datetime.date(2010, 1, 1)
EXCHANGES = {"XETR": (1, 1, 12, 25), "XNYS": (7, 4, 12, 25), "XTKS": (1, 2, 5, 3), "XLON": (5, 6, 8, 26)}
KNOWN = {}


def holidays(exchange):
    """ISO dates of the closed days of forty years."""
    month, day, other_month, other_day = EXCHANGES[exchange]
    days = []
    for year in range(2000, 2040):
        days += [f"{year}-{month:02}-{day:02}", f"{year}-{other_month:02}-{other_day:02}", f"{year}-12-26"]
        days += [f"{year}-{1 + (year * k) % 12:02}-{1 + (year * k) % 28:02}" for k in (3, 7, 11)]
    return days


HOLIDAYS = {exchange: holidays(exchange) for exchange in EXCHANGES}


def calendar(exchange):
    return np.busdaycalendar(holidays=HOLIDAYS[exchange])  # waste: store


def calendar_fixed(exchange):
    if exchange not in KNOWN:
        KNOWN[exchange] = np.busdaycalendar(holidays=HOLIDAYS[exchange])
    return KNOWN[exchange]


def trades(rng, count):
    for _ in range(count):
        day = FIRST + datetime.timedelta(days=rng.randrange(9_000))
        yield rng.choice(list(EXCHANGES)), day, rng.randrange(1, 5_000) * 100


def work(repeats, choose):
    """For each month, the sum that is due."""
    due = np.zeros(12)
    late = 0
    for exchange, day, amount in trades(random.Random(29), repeats):
        paid = np.busday_offset(day, 2, roll="forward", busdaycal=choose(exchange)).astype(datetime.date)
        due[paid.month - 1] += amount
        late += (paid - day).days > 4
    return [*due, late]


if __name__ == "__main__":
    harness.main(lambda n: work(n, calendar), lambda n: work(n, calendar_fixed), repeats=80_000)
