# SPDX-License-Identifier: Apache-2.0
"""Tilings of odd boards with pentominoes by Knuth's algorithm X, on dictionaries of sets."""

import random

import harness

SHAPES = {
    "F": "01 10 11 12 20", "I": "00 10 20 30 40", "L": "00 10 20 30 31", "N": "00 10 11 21 31", "P": "00 01 10 11 20",
    "T": "00 01 02 11 21", "U": "00 02 10 11 12", "V": "00 10 20 21 22", "W": "00 10 11 21 22", "X": "01 10 11 12 21",
    "Y": "00 10 11 20 30", "Z": "00 01 11 21 22",
}


def turned(cells):
    """All distinct turns and reflections, each with its first cell at the origin."""
    found = set()
    for _ in range(2):
        for _ in range(4):
            cells = [(c, -r) for r, c in cells]
            r0, c0 = min(cells)
            found.add(tuple(sorted((r - r0, c - c0) for r, c in cells)))
        cells = [(r, -c) for r, c in cells]
    return sorted(found)


PIECES = {name: turned([(int(text[0]), int(text[1])) for text in cells.split()]) for name, cells in SHAPES.items()}


def board(rng):
    """A rectangle with a few holes, which pieces of five cells can fill."""
    rows, columns = rng.choice(((5, 9), (6, 8), (7, 7)))
    cells = [(r, c) for r in range(rows) for c in range(columns)]
    holes = len(cells) % 5
    return set(cells) - set(rng.sample(cells, holes)), (len(cells) - holes) // 5


def problem(cells, names):
    rows = {}
    for name in names:
        for turn in PIECES[name]:
            for r, c in cells:
                placed = [(r + dr, c + dc) for dr, dc in turn]
                if cells.issuperset(placed):
                    rows[name, turn, r, c] = [name, *placed]
    columns = {key: set() for key in [*names, *sorted(cells)]}
    for row, keys in rows.items():
        for key in keys:
            columns[key].add(row)
    return columns, rows


def select(columns, rows, row):
    taken = []
    for key in rows[row]:
        for other in columns[key]:
            for further in rows[other]:
                if further != key:
                    columns[further].remove(other)
        taken.append(columns.pop(key))
    return taken


def undo(columns, rows, row, taken):
    for key in reversed(rows[row]):
        columns[key] = taken.pop()
        for other in columns[key]:
            for further in rows[other]:
                if further != key:
                    columns[further].add(other)


class Search:
    def __init__(self, columns, rows, limit):
        self.columns, self.rows, self.limit, self.steps, self.solutions = columns, rows, limit, 0, 0

    def run(self):
        if not self.columns:
            self.solutions += 1
            return
        key = min(self.columns, key=lambda key: len(self.columns[key]))
        for row in sorted(self.columns[key]):
            self.steps += 1
            if self.steps > self.limit:
                return
            taken = select(self.columns, self.rows, row)
            self.run()
            undo(self.columns, self.rows, row, taken)


def work(boards):
    rng, found = random.Random(1965), []
    for _ in range(boards):
        cells, pieces = board(rng)
        search = Search(*problem(cells, rng.sample(sorted(PIECES), pieces)), 400)
        search.run()
        found.append([search.steps, search.solutions])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=70)
