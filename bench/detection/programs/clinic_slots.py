# SPDX-License-Identifier: Apache-2.0
"""Free slots of a clinic: the condition of a comprehension works out the year's holidays for each slot it looks at."""

import datetime
import random

import harness

# holidays(year) does not depend on the slot, and the comprehension is the loop around it: loop-invariant computation.
CATEGORY = "loop-invariant computation"
KIND = "store"
DAY = datetime.timedelta(days=1)
STEP = datetime.timedelta(minutes=20)
ROOMS = ("skin", "eyes", "vaccination")
FIXED_DAYS = ((1, 1), (1, 6), (5, 1), (8, 15), (10, 3), (11, 1), (12, 24), (12, 25), (12, 26), (12, 31))
AROUND_EASTER = (-2, 0, 1, 39, 49, 50, 60)


def easter(year):
    """Gauss's rule, as Lichtenberg completed it."""
    century = year // 100  # waste: store
    moon = 15 + (3 * century + 3) // 4 - (8 * century + 13) // 25  # waste: store
    sun = 2 - (3 * century + 3) // 4  # waste: store
    golden = year % 19  # waste: store
    seed = (19 * golden + moon) % 30  # waste: store
    full = 21 + seed - (seed // 29 + (seed // 28 - seed // 29) * (golden // 11))  # waste: store
    sunday = 7 - (year + year // 4 + sun) % 7  # waste: store
    return datetime.date(year, 3, 1) + (full + 7 - (full - sunday) % 7 - 1) * DAY  # waste: store


def holidays(year):
    start = easter(year)  # waste: store
    return {datetime.date(year, month, day) for month, day in FIXED_DAYS} | {start + days * DAY for days in AROUND_EASTER}  # waste: store


class Diary:
    def __init__(self, source, year):
        self.source, self.year, self.taken = source, year, set()

    def slots(self, room, first, days):
        """All that fall into the room's hours, free or not."""
        opens = 8 + ROOMS.index(room) % 2
        for number in range(days):
            day = first + number * DAY
            moment = datetime.datetime.combine(day, datetime.time(opens, 10 * ROOMS.index(room)))
            while moment.hour < (13 if day.weekday() == 4 else 16):
                yield moment
                moment += STEP

    def free(self, room, first, days):
        return [
            slot for slot in self.slots(room, first, days)
            if slot.weekday() < 5 and slot.date() not in holidays(self.year)  # waste: store
            and (room, slot) not in self.taken
        ]

    def book(self, room, first):
        """Patients want a time of the day; they take the nearest that is free."""
        choices = self.free(room, first, 12)
        if not choices:
            return 0
        hour = self.source.choice((8, 9, 9, 11, 14, 15))
        chosen = min(choices, key=lambda slot: (abs(slot.hour - hour), slot))
        self.taken.add((room, chosen))
        return chosen.timetuple().tm_yday * 100 + chosen.hour


class FixedDiary(Diary):
    def free(self, room, first, days):
        closed, taken = holidays(self.year), self.taken
        return [
            slot for slot in self.slots(room, first, days)
            if slot.weekday() < 5 and slot.date() not in closed and (room, slot) not in taken
        ]


def work(years, kind):
    source = random.Random(1816)
    found = []
    for year in range(2001, 2001 + years):
        diary = kind(source, year)
        calls = sorted(source.randrange(350) for _ in range(60))
        found.append([diary.book(source.choice(ROOMS), datetime.date(year, 1, 1) + day * DAY) for day in calls])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, Diary), lambda n: work(n, FixedDiary), repeats=130)
