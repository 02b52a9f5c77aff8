# SPDX-License-Identifier: Apache-2.0
"""Shortest ways through mazes by breadth-first search; the front of the queue is cut off with a slice."""

import random

import harness

CATEGORY = "inefficient algorithm"
KIND = "store"


def maze(rng, size):
    """Rows of 0 (free) and 1 (wall); the border is wall, both corners are free."""
    rows = [[int(rng.random() < 0.22) for _ in range(size)] for _ in range(size)]
    for k in range(size):
        rows[0][k] = rows[-1][k] = rows[k][0] = rows[k][-1] = 1
    rows[1][1] = rows[-2][-2] = 0
    return rows


class Front:
    """Cells to visit, the first that came in first out."""

    def __init__(self, cell):
        self.cells = [cell]

    def pop(self):
        cell, self.cells = self.cells[0], self.cells[1:]  # waste: store
        return cell

    def __bool__(self):
        return len(self.cells) > 0


class FrontFixed:
    def __init__(self, cell):
        self.cells, self.next = [cell], 0

    def pop(self):
        self.next += 1
        return self.cells[self.next - 1]

    def __bool__(self):
        return self.next < len(self.cells)


def search(rows, starts, kind):
    """Distance of each cell from the nearest exit."""
    front = kind(starts[0])
    front.cells.extend(starts[1:])
    distance = dict.fromkeys(starts, 0)
    while front:
        i, j = front.pop()
        for cell in ((i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1)):
            if cell not in distance and not rows[cell[0]][cell[1]]:
                distance[cell] = distance[i, j] + 1
                front.cells.append(cell)
    return distance


def work(repeats, kind):
    rng = random.Random(66)
    found = []
    for _ in range(repeats):
        rows = maze(rng, 200)
        free = [(i, j) for i in range(200) for j in range(200) if not rows[i][j]]
        distance = search(rows, rng.sample(free, 2500), kind)
        found.append([len(distance), max(distance.values()), sum(distance.values())])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, Front), lambda n: work(n, FrontFixed), repeats=15)
