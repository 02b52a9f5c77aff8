# SPDX-License-Identifier: Apache-2.0
"""Nurses' shifts: events come as lines of JSON, a journal is replayed, and hours and rests are worked out by date."""

import datetime
import json
import random

import harness

WARDS = ("A1", "A2", "B1", "B3", "C0")
KINDS = ("start", "end", "swap", "sick", "note")
EPOCH = datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc)
NIGHT = datetime.timedelta(hours=11)


def journal(rng, nurses, days):
    """Lines in the order of time; a shift has a start and an end, some notes lie between."""
    lines = []
    for day in range(days):
        for nurse in rng.sample(range(nurses), nurses * 2 // 3):
            start = day * 1440 + rng.choice((360, 840, 1320)) + rng.randrange(-12, 13)
            end = start + rng.randrange(420, 540)
            ward = rng.choice(WARDS)
            lines.append((start, event("start", start, nurse, ward=ward)))
            lines.append((end, event("end", end, nurse, ward=ward, breaks=[rng.randrange(10, 40) for _ in range(2)])))
            if rng.random() < 0.2:
                lines.append((start + 60, event("note", start + 60, nurse, text=f"bed {rng.randrange(40)}: fever")))
    lines.sort()
    return [line for _, line in lines]


def event(kind, minute, nurse, **more):
    time = EPOCH + datetime.timedelta(minutes=minute)
    return json.dumps({"kind": kind, "at": time.isoformat(), "nurse": nurse, **more})


class Nurse:
    __slots__ = ("started", "ended", "minutes", "night_minutes", "short_rests", "wards")

    def __init__(self):
        self.started = self.ended = None
        self.minutes = self.night_minutes = self.short_rests = 0
        self.wards = set()

    def start(self, time):
        """A rest that is shorter than eleven hours is written down."""
        if self.ended is not None and time - self.ended < NIGHT:
            self.short_rests += 1
        self.started = time

    def end(self, time, ward, breaks):
        if self.started is None:
            return 0
        minutes = int((time - self.started).total_seconds()) // 60 - sum(breaks)
        self.minutes += minutes
        if self.started.hour >= 20 or self.started.hour < 4:
            self.night_minutes += minutes
        self.wards.add(ward)
        self.started, self.ended = None, time
        return minutes


class Roster:
    """What the journal says so far."""

    def __init__(self, nurses):
        self.nurses = [Nurse() for _ in range(nurses)]
        self.by_week, self.notes = {}, 0

    def replay(self, lines):
        for line in lines:
            entry = json.loads(line)
            time = datetime.datetime.fromisoformat(entry["at"])
            nurse = self.nurses[entry["nurse"]]
            if entry["kind"] == "start":
                nurse.start(time)
            elif entry["kind"] == "end":
                minutes = nurse.end(time, entry["ward"], entry["breaks"])
                week = time.isocalendar()[:2]
                self.by_week[week] = self.by_week.get(week, 0) + minutes
            else:
                self.notes += 1

    def summary(self):
        return [sum(nurse.minutes for nurse in self.nurses), sum(nurse.night_minutes for nurse in self.nurses),
                sum(nurse.short_rests for nurse in self.nurses), sum(len(nurse.wards) for nurse in self.nurses),
                max(self.by_week.values()), len(self.by_week), self.notes]


def work(houses):
    rng, rows = random.Random(7215), []
    for _ in range(houses):
        nurses = rng.randrange(20, 40)
        roster = Roster(nurses)
        roster.replay(journal(rng, nurses, 28))
        rows.append(roster.summary())
    return rows


if __name__ == "__main__":
    harness.main(work, repeats=600)
