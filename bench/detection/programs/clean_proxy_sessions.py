# SPDX-License-Identifier: Apache-2.0
"""Visits in a proxy's log: lines stream through a pattern, and a visit ends when a client was silent for a while."""

import collections
import dataclasses
import datetime
import random
import re

import harness

LINE = re.compile(r'(\S+) - - \[([^]]+)\] "([A-Z]+) (\S+) HTTP/[\d.]+" (\d{3}) (\d+|-)')
SILENCE = 900.0  # seconds
START = datetime.datetime(2024, 3, 1, tzinfo=datetime.timezone.utc).timestamp()


@dataclasses.dataclass
class Visit:
    begin: float
    last: float
    pages: int = 0
    octets: int = 0
    failures: int = 0


def lines(random_source, count):
    now = START
    for _ in range(count):
        now += random_source.expovariate(0.8)
        client = min(int(random_source.paretovariate(0.5)), 60_000)
        when = datetime.datetime.fromtimestamp(now, datetime.timezone.utc).isoformat(timespec="milliseconds")
        path, status = f"/a/{random_source.randrange(900)}.html", random_source.choice([200, 200, 200, 304, 404, 502])
        size = "-" if status == 304 else random_source.randrange(200, 90_000)
        yield f'10.{client % 7}.{client >> 8}.{client & 255} - - [{when}] "GET {path} HTTP/1.1" {status} {size}'


def hits(log):
    for line in log:
        if parts := LINE.match(line):
            client, when, _, _, status, size = parts.groups()
            time = datetime.datetime.fromisoformat(when).timestamp()
            yield client, time, int(status), int(size) if size != "-" else 0


def visits(found):
    """Finished visits; the open ones are ordered by their last hit, so the first one is the next to end."""
    open_visits = collections.OrderedDict()
    for client, time, status, size in found:
        while open_visits and time - next(iter(open_visits.values())).last > SILENCE:
            yield open_visits.popitem(last=False)[1]
        visit = open_visits.setdefault(client, Visit(time, time))
        open_visits.move_to_end(client)
        visit.last = time
        visit.pages += 1
        visit.octets += size
        visit.failures += status >= 400
    yield from open_visits.values()


def work(repeats):
    random_source = random.Random(1996)
    found = []
    for _ in range(repeats):
        ended = list(visits(hits(lines(random_source, 20_000))))
        longest = max(ended, key=lambda visit: visit.last - visit.begin)
        octets, failures = sum(visit.octets for visit in ended), sum(visit.failures for visit in ended)
        found.append([len(ended), octets, failures, longest.pages, longest.last - longest.begin])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=24)
