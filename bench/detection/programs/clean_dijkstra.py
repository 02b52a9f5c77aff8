# SPDX-License-Identifier: Apache-2.0
"""Shortest ways from a depot to all crossings of a town, for one town after the other: Dijkstra with a heap.

It runs for longer than most programs here. Distances are floats that come and go in the same recycled memory.
"""

import heapq
import random

import harness

CROSSINGS = 3000


def town(rng):
    """For each crossing its streets: [(other crossing, length)]."""
    streets = [[] for _ in range(CROSSINGS)]
    for here in range(1, CROSSINGS):
        for there in (here - 1, rng.randrange(here), rng.randrange(here)):
            length = rng.uniform(0.1, 2.0)
            streets[here].append((there, length))
            streets[there].append((here, length))
    return streets


def distances(streets, depot):
    best = [float("inf")] * len(streets)
    best[depot] = 0.0
    heap = [(0.0, depot)]
    while heap:
        so_far, here = heapq.heappop(heap)
        if so_far > best[here]:
            continue
        for there, length in streets[here]:
            total = so_far + length
            if total < best[there]:
                best[there] = total
                heapq.heappush(heap, (total, there))
    return best


def work(repeats):
    rng = random.Random(202)
    found = []
    for _ in range(repeats):
        ways = distances(town(rng), rng.randrange(CROSSINGS))
        found.append([max(ways), sum(ways) / CROSSINGS])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=1200)
