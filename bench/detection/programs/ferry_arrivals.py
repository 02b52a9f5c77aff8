# SPDX-License-Identifier: Apache-2.0
"""Delays of ferries from their log: time stamps in ISO form are read with strptime, where fromisoformat would do."""

import collections
import datetime as dt
import random
import statistics

import harness

CATEGORY = "API misuse"
KIND = "load"
PORTS = ["Mariehamn", "Turku", "Kapellskär", "Tallinn", "Visby", "Nynäshamn", "Ystad", "Rønne"]
FORMAT = "%Y-%m-%dT%H:%M:%S"
EPOCH = dt.datetime(2021, 3, 1)


def make_log(rng, lines):
    for _ in range(lines):
        start = EPOCH + dt.timedelta(seconds=rng.randrange(90_000_000))
        late = dt.timedelta(seconds=int(rng.gauss(300, 700)))
        plan = start + dt.timedelta(minutes=rng.choice((35, 80, 145, 300)))
        a, b = rng.sample(PORTS, 2)
        yield f"{a};{b};{start.isoformat()};{plan.isoformat()};{(plan + late).isoformat()};{rng.randint(3, 900)}\n"


Trip = collections.namedtuple("Trip", "route start late passengers")


def parse(line):
    a, b, start, plan, real, passengers = line.rstrip("\n").split(";")
    start, plan, real = (dt.datetime.strptime(text, FORMAT) for text in (start, plan, real))  # waste: load
    return Trip((a, b), start, (real - plan).total_seconds(), int(passengers))


def parse_fixed(line):
    a, b, start, plan, real, passengers = line.rstrip("\n").split(";")
    start, plan, real = (dt.datetime.fromisoformat(text) for text in (start, plan, real))
    return Trip((a, b), start, (real - plan).total_seconds(), int(passengers))


def summarise(trips):
    """Median delay of each route, passengers that came late by weekday, and the worst hour of the day."""
    routes, weekdays, hours = collections.defaultdict(list), collections.Counter(), collections.defaultdict(float)
    for trip in trips:
        routes[trip.route].append(trip.late)
        if trip.late > 300:
            weekdays[trip.start.weekday()] += trip.passengers
        hours[trip.start.hour] += max(0.0, trip.late) * trip.passengers
    medians = [statistics.median(lates) for _, lates in sorted(routes.items())]
    return [sum(medians), max(medians), max(weekdays.values()), max(hours, key=hours.get)]


def work(months, reader):
    rng = random.Random(36)
    return [summarise(map(reader, make_log(rng, 2000))) for _ in range(months)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, parse), lambda n: work(n, parse_fixed), repeats=75)
