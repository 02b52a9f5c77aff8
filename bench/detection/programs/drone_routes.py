# SPDX-License-Identifier: Apache-2.0
"""Ways of delivery drones around no-fly zones: Dijkstra's algorithm seeks the nearest open place in a plain set."""

import heapq
import math
import random

import harness

# min() runs over the whole front at each step, where a heap needs a few: inefficient algorithm.
CATEGORY = "inefficient algorithm"
KIND = "load"


class Airspace:
    def __init__(self, rng, size):
        self.size = size
        self.wind = [[rng.uniform(0.8, 2.5) for _ in range(size)] for _ in range(size)]
        self.closed = set()
        for _ in range(size // 3):
            x, y, r = rng.randrange(size), rng.randrange(size), rng.randrange(1, 5)
            self.closed |= {(i, j) for i in range(x - r, x + r) for j in range(y - r, y + r)}

    def neighbours(self, place):
        x, y = place
        for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1)):
            there = x + dx, y + dy
            if 0 <= there[0] < self.size and 0 <= there[1] < self.size and there not in self.closed:
                yield there, self.wind[there[0]][there[1]] * math.hypot(dx, dy)


def route(space, start, goal):
    dist, done, front = {start: 0.0}, set(), {start}
    while front:
        here = min(front, key=lambda place: (dist[place], place))  # waste: load
        if here == goal:
            break
        front.remove(here)
        done.add(here)
        for there, cost in space.neighbours(here):
            if there in done:
                continue
            new = dist[here] + cost
            if new < dist.get(there, math.inf):
                dist[there] = new
                front.add(there)
    return dist.get(goal, -1.0), len(done)


def route_fixed(space, start, goal):
    dist, done, front = {start: 0.0}, set(), [(0.0, start)]
    while front:
        far, here = heapq.heappop(front)
        if here in done:
            continue
        if here == goal:
            break
        done.add(here)
        for there, cost in space.neighbours(here):
            if there in done:
                continue
            new = far + cost
            if new < dist.get(there, math.inf):
                dist[there] = new
                heapq.heappush(front, (new, there))
    return dist.get(goal, -1.0), len(done)


def free_place(rng, space):
    while (place := (rng.randrange(space.size), rng.randrange(space.size))) in space.closed:
        pass
    return place


def work(orders, find):
    rng = random.Random(515)
    space, found = Airspace(rng, 80), []
    for number in range(orders):
        if number % 10 == 9:
            space = Airspace(rng, 80)
        found.append(find(space, free_place(rng, space), free_place(rng, space)))
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, route), lambda n: work(n, route_fixed), repeats=180)
