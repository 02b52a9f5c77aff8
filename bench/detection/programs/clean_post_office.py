# SPDX-License-Identifier: Apache-2.0
"""A post office with three counters, day after day: events as dataclasses in a heap, customers from a generator.

Objects of one size are made and dropped all the time, so each lies where another of its kind was.
"""

import collections
import dataclasses
import heapq
import random

import harness

COUNTERS, DAY_MINUTES = 3, 480.0


@dataclasses.dataclass(order=True, slots=True)
class Event:
    minute: float
    number: int
    is_end: bool = dataclasses.field(compare=False)


def customers(rng):
    """(number, minute of arrival)"""
    number, minute = 0, rng.expovariate(1.0)
    while minute < DAY_MINUTES:
        yield number, minute
        number, minute = number + 1, minute + rng.expovariate(1.0)


def day(rng):
    """How many came, how long they waited together, when the last one left."""
    events = [Event(minute, number, False) for number, minute in customers(rng)]
    arrivals = {event.number: event.minute for event in events}
    heapq.heapify(events)
    queue, free, waited, last = collections.deque(), COUNTERS, 0.0, 0.0
    while events:
        event = heapq.heappop(events)
        if event.is_end:
            free, last = free + 1, event.minute
        else:
            queue.append(event.number)
        while free and queue:
            number, free = queue.popleft(), free - 1
            waited += event.minute - arrivals[number]
            heapq.heappush(events, Event(event.minute + rng.expovariate(0.36), number, True))
    return len(arrivals), waited, last


def work(repeats):
    rng = random.Random(305)
    return [day(rng) for _ in range(repeats)]


if __name__ == "__main__":
    harness.main(work, repeats=2200)
