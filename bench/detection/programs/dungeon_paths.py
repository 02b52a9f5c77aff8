# SPDX-License-Identifier: Apache-2.0
"""Monsters of a dungeon game look for ways to the heroes: the search looks through all open cells for the best."""

import heapq
import random

import harness

# A heap hands out the best cell without a look at all of them: inefficient algorithm.
CATEGORY = "inefficient algorithm"
KIND = "load"
WIDTH, HEIGHT = 64, 40
FLOOR, SWAMP, WALL = 1, 4, 0


def dungeon(rng):
    """Rooms with walls and doors, and swamps in which one is slow."""
    cells = [[FLOOR] * WIDTH for _ in range(HEIGHT)]
    for x in range(8, WIDTH, 9):
        doors = set(rng.sample(range(1, HEIGHT - 1), 5))
        for y in range(HEIGHT):
            if y not in doors:
                cells[y][x] = WALL
    for _ in range(160):
        x, y = rng.randrange(WIDTH - 3), rng.randrange(HEIGHT - 2)
        for dx in range(3):
            for dy in range(2):
                if cells[y + dy][x + dx]:
                    cells[y + dy][x + dx] = SWAMP
    return cells


def around(cells, cell):
    x, y = cell
    for nx, ny in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
        if 0 <= nx < WIDTH and 0 <= ny < HEIGHT and cells[ny][nx]:
            yield (nx, ny), cells[ny][nx]


def distance(cell, goal):
    return abs(cell[0] - goal[0]) + abs(cell[1] - goal[1])


def cost_of_way(cells, start, goal):
    costs, done = {start: 0}, set()
    frontier = [start]
    while frontier:
        best = min(frontier, key=lambda cell: (costs[cell] + distance(cell, goal), cell))  # waste: load
        frontier.remove(best)
        if best == goal:
            return costs[goal], len(done)
        done.add(best)
        for cell, price in around(cells, best):
            cost = costs[best] + price
            if cost < costs.get(cell, 1 << 30):
                if cell not in costs:
                    frontier.append(cell)
                costs[cell] = cost
    return -1, len(done)


def cost_of_way_fixed(cells, start, goal):
    costs, done = {start: 0}, set()
    frontier = [(distance(start, goal), start)]
    while frontier:
        _, best = heapq.heappop(frontier)
        if best in done:
            continue
        if best == goal:
            return costs[goal], len(done)
        done.add(best)
        for cell, price in around(cells, best):
            cost = costs[best] + price
            if cost < costs.get(cell, 1 << 30):
                costs[cell] = cost
                heapq.heappush(frontier, (cost + distance(cell, goal), cell))
    return -1, len(done)


class Level:
    def __init__(self, rng):
        self.cells = dungeon(rng)
        free = [(x, y) for y, row in enumerate(self.cells) for x, kind in enumerate(row) if kind == FLOOR]
        self.heroes = rng.sample(free, 3)
        self.monsters = rng.sample(free, 14)

    def turn(self, finding):
        """Each monster goes for the hero who is nearest as the crow flies."""
        found = []
        for monster in self.monsters:
            hero = min(self.heroes, key=lambda cell: (distance(cell, monster), cell))
            found.append(finding(self.cells, monster, hero))
        return found


def work(levels, finding):
    rng = random.Random(626)
    return [value for _ in range(levels) for value in Level(rng).turn(finding)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, cost_of_way), lambda n: work(n, cost_of_way_fixed), repeats=230)
