# SPDX-License-Identifier: Apache-2.0
"""The earliest arrival by train, for journeys from everywhere to everywhere at any minute of a week.

Dijkstra's method with a heap; departures of a line lie sorted by time, and bisect finds the next one.
"""

import bisect
import datetime
import heapq
import random

import harness

STATIONS = 300
WEEK_START = datetime.datetime(2026, 3, 2)


def network(rng):
    """{station: [(next station, minutes, departures in minutes of the week)]}"""
    lines = {station: [] for station in range(STATIONS)}
    for station in range(STATIONS):
        for _ in range(4):
            target = (station + rng.choice((-17, -5, -1, 1, 5, 17, 60))) % STATIONS
            times, time = [], rng.randrange(60)
            while time < 7 * 24 * 60:
                if 300 < time % 1440 < 1400:
                    times.append(time)
                time += rng.randrange(15, 50)
            lines[station].append((target, rng.randrange(8, 40), times))
    return lines


def arrival(lines, start, target, minute):
    """Minute of the week, or None if one must wait for the next week; and how many stations were looked at."""
    best, queue, looked = {start: minute}, [(minute, start)], 0
    while queue:
        now, station = heapq.heappop(queue)
        if station == target:
            return now, looked
        if now > best[station]:
            continue
        looked += 1
        for following, minutes, departures in lines[station]:
            place = bisect.bisect_left(departures, now + 3)
            if place < len(departures):
                later = departures[place] + minutes
                if later < best.get(following, 1 << 30):
                    best[following] = later
                    heapq.heappush(queue, (later, following))
    return None, looked


def in_words(minute):
    return (WEEK_START + datetime.timedelta(minutes=minute)).strftime("%a %H:%M")


def work(repeats):
    rng = random.Random(504)
    lines = network(rng)
    found = []
    for _ in range(repeats):
        start, target = rng.sample(range(STATIONS), 2)
        minute, looked = arrival(lines, start, target, rng.randrange(6 * 24 * 60))
        found.append([minute or -1, looked, len(in_words(minute or 0))])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=15_000)
