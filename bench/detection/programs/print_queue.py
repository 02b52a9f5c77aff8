# SPDX-License-Identifier: Apache-2.0
"""A print shop prints the most urgent job first; to find it, all waiting jobs are looked through."""

import dataclasses
import heapq
import operator
import random

import harness

CATEGORY = "inefficient algorithm"
KIND = "load"


@dataclasses.dataclass(frozen=True, order=True)
class Job:
    due: int
    number: int
    pages: int


class Queue:
    def __init__(self):
        self.jobs = []

    def add(self, job):
        self.jobs.append(job)

    def take(self):
        first = min(self.jobs, key=operator.attrgetter("due", "number"))  # waste: load
        self.jobs.remove(first)
        return first


class FixedQueue(Queue):
    def add(self, job):
        heapq.heappush(self.jobs, (job.due, job.number, job))

    def take(self):
        return heapq.heappop(self.jobs)[2]


def arrivals(random_source, count):
    minute = 0.0
    for number in range(count):
        minute += random_source.expovariate(1.0)
        pages = 1 + int(random_source.expovariate(1 / 30))
        yield minute, Job(int(minute) + random_source.randrange(10, 600), number, pages)


def shop(random_source, queue, count, speed):
    """How many jobs were late, by how much together, and the longest queue."""
    clock, late, delay, longest = 0.0, 0, 0.0, 0
    for minute, job in arrivals(random_source, count):
        queue.add(job)
        longest = max(longest, len(queue.jobs))
        while queue.jobs and clock < minute:
            done = queue.take()
            clock = max(clock, minute - 1.0) + done.pages / speed
            late += clock > done.due
            delay += max(0.0, clock - done.due)
    return [late, delay, longest]


def work(repeats, kind):
    random_source = random.Random(714)
    return [shop(random_source, kind(), 2500, random_source.uniform(24.0, 30.0)) for _ in range(repeats)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, Queue), lambda n: work(n, FixedQueue), repeats=100)
