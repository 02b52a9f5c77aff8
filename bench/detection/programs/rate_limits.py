# SPDX-License-Identifier: Apache-2.0
"""Which requests of a web log would a rate limit have refused? A client's whole past is gone through each time."""

import collections
import random

import harness

CATEGORY = "inefficient algorithm"
KIND = "load"
WINDOW, MOST = 60.0, 30  # seconds, requests


class Limiter:
    def __init__(self):
        self.times = collections.defaultdict(list)

    def recent(self, client, now):
        return len([time for time in self.times[client] if time > now - WINDOW])  # waste: load

    def allows(self, client, now):
        is_allowed = self.recent(client, now) < MOST  # waste: load
        if is_allowed:
            self.times[client].append(now)
        return is_allowed


class LimiterFixed(Limiter):
    def __init__(self):
        self.times = collections.defaultdict(collections.deque)

    def recent(self, client, now):
        times = self.times[client]
        while times and times[0] <= now - WINDOW:
            times.popleft()
        return len(times)


def requests(random_source, count):
    """Lines of some hours: seconds and client; a few clients send most of them."""
    now = 0.0
    for _ in range(count):
        now += random_source.expovariate(1.5)
        client = int(random_source.paretovariate(0.8)) % 500
        yield f"{now:.2f} 10.1.{client // 250}.{client % 250} GET /api/items"


def refused(lines, limiter):
    counts = collections.Counter()
    for line in lines:
        time, client, _ = line.split(" ", 2)
        if not limiter.allows(client, float(time)):
            counts[client] += 1
    return [len(counts), counts.total(), max(counts.values(), default=0)]


def work(repeats, make):
    random_source = random.Random(429)
    return [refused(requests(random_source, 12_000), make()) for _ in range(repeats)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, Limiter), lambda n: work(n, LimiterFixed), repeats=16)
