# SPDX-License-Identifier: Apache-2.0
"""A sliding puzzle is shuffled and taken back; the moves so far are a tuple, which each move copies."""

import random

import harness

CATEGORY = "inefficient algorithm"
KIND = "store"
SIDE = 4
NEIGHBOURS = {
    place: [
        next_place
        for next_place in (place - SIDE, place - 1, place + 1, place + SIDE)
        if 0 <= next_place < SIDE * SIDE
        and abs(place % SIDE - next_place % SIDE) + abs(place // SIDE - next_place // SIDE) == 1
    ]
    for place in range(SIDE * SIDE)
}


class Puzzle:
    def __init__(self):
        self.tiles = list(range(SIDE * SIDE))
        self.gap = 0
        self.history = ()

    def slide(self, place):
        self.tiles[self.gap], self.tiles[place] = self.tiles[place], self.tiles[self.gap]
        self.gap = place

    def remember(self):
        self.history = self.history + (self.gap,)  # waste: store

    def move(self, place):
        self.remember()
        self.slide(place)

    def disorder(self):
        return sum(abs(tile - place) for place, tile in enumerate(self.tiles))

    def undo_all(self):
        for place in reversed(self.history):
            self.slide(place)


class FixedPuzzle(Puzzle):
    def __init__(self):
        super().__init__()
        self.history = []

    def remember(self):
        self.history.append(self.gap)


def shuffled(random_source, puzzle, moves):
    """The greatest disorder on the way, that at its end, and that after all moves were taken back."""
    greatest = 0
    for number in range(moves):
        puzzle.move(random_source.choice(NEIGHBOURS[puzzle.gap]))
        if number % 10 == 0:
            greatest = max(greatest, puzzle.disorder())
    end = puzzle.disorder()
    puzzle.undo_all()
    return [greatest, end, puzzle.disorder(), len(puzzle.history)]


def work(repeats, kind):
    random_source = random.Random(713)
    return [shuffled(random_source, kind(), 15000) for _ in range(repeats)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, Puzzle), lambda n: work(n, FixedPuzzle), repeats=36)
