# SPDX-License-Identifier: Apache-2.0
"""Queues at the gates of an airport: events in a heap, in two threads that simulate other days."""

import heapq
import itertools
import logging
import random
import struct
import threading
from collections import deque

import harness

log = logging.getLogger("airport")
RECORD = struct.Struct("<IdBH")


class Airport:
    def __init__(self, seed, lanes):
        self.random = random.Random(seed)
        self.events, self.numbers = [], itertools.count()
        self.queue, self.free, self.arrived = deque(), lanes, {}
        self.waits, self.tape, self.now = [], bytearray(), 0.0

    def plan(self, delay, action, passenger=-1):
        heapq.heappush(self.events, (self.now + delay, next(self.numbers), action, passenger))

    def arrive(self, passenger):
        self.arrived[passenger] = self.now
        self.queue.append(passenger)
        rush = 2.5 if 20_000 < self.now % 86_400 < 36_000 else 1.0
        self.plan(self.random.expovariate(rush / 14.0), self.arrive, passenger + 1)
        self.serve()

    def serve(self):
        while self.free and self.queue:
            passenger = self.queue.popleft()
            self.free -= 1
            self.plan(self.random.gammavariate(3.0, 13.0), self.leave, passenger)

    def leave(self, passenger):
        self.free += 1
        wait = self.now - self.arrived.pop(passenger)
        self.waits.append(wait)
        self.tape += RECORD.pack(passenger, self.now, self.free, min(int(wait), 65_535))
        if wait > 7200:
            log.debug("passenger %d waited for %.0f s", passenger, wait)
        self.serve()

    def run(self, until):
        self.plan(0.0, self.arrive, 0)
        while self.events[0][0] < until:
            self.now, _, action, passenger = heapq.heappop(self.events)
            action(passenger)
        self.waits.sort()
        late = sum(wait > 600 for _, _, _, wait in RECORD.iter_unpack(self.tape))
        return [len(self.waits), self.waits[len(self.waits) // 2], self.waits[-1], late]


def work(days):
    results = [None] * days

    def simulate(first):
        for day in range(first, days, 2):
            results[day] = Airport(day, lanes=5 + day % 3).run(86_400.0)

    threads = [threading.Thread(target=simulate, args=(first,)) for first in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


if __name__ == "__main__":
    harness.main(work, repeats=220)
