# SPDX-License-Identifier: Apache-2.0
"""Ends of games of Othello on six by six fields, solved with alpha and beta and a table of positions seen before."""

import random

import harness

SIDE = 6
FULL = (1 << SIDE * SIDE) - 1
LEFT = sum(1 << SIDE * row for row in range(SIDE))  # its first column
RIGHT = LEFT << SIDE - 1
# How far a step goes, and the fields it may start from.
UP_STEPS = ((1, FULL & ~RIGHT), (SIDE, FULL), (SIDE + 1, FULL & ~RIGHT), (SIDE - 1, FULL & ~LEFT))
DOWN_STEPS = ((1, FULL & ~LEFT), (SIDE, FULL), (SIDE + 1, FULL & ~LEFT), (SIDE - 1, FULL & ~RIGHT))


def moves(own, other):
    """Free fields from which a line of the other's discs ends at an own one."""
    free, found = FULL & ~(own | other), 0
    for step, may in UP_STEPS:
        line = (own & may) << step & other
        while line:
            line = (line & may) << step
            found |= line & free
            line &= other
    for step, may in DOWN_STEPS:
        line = (own & may) >> step & other
        while line:
            line = (line & may) >> step
            found |= line & free
            line &= other
    return found


def flips(own, other, field):
    """Discs that a move turns."""
    found = 0
    for step, may in UP_STEPS:
        line, at = 0, (field & may) << step & FULL
        while at & other:
            line |= at
            at = (at & may) << step & FULL
        if at & own:
            found |= line
    for step, may in DOWN_STEPS:
        line, at = 0, (field & may) >> step
        while at & other:
            line |= at
            at = (at & may) >> step
        if at & own:
            found |= line
    return found


def singles(fields):
    while fields:
        field = fields & -fields
        yield field
        fields ^= field


class Solver:
    """Bounds of positions, from the view of whoever is to move."""

    def __init__(self):
        self.known = {}
        self.visited = 0

    def best(self, own, other, fields, alpha, beta, has_passed=False):
        """fields: those that own may take."""
        low, high = self.known.get((own, other), (-64, 64))
        if low >= beta or low == high:
            return low
        if high <= alpha:
            return high
        alpha, beta = max(alpha, low), min(beta, high)
        self.visited += 1
        if not fields:
            if has_passed:
                return own.bit_count() - other.bit_count()
            return -self.best(other, own, moves(other, own), -beta, -alpha, True)
        score = self.search(own, other, fields, alpha, beta)
        self.known[own, other] = (low, score) if score <= alpha else (score, high) if score >= beta else (score, score)
        return score

    def search(self, own, other, fields, alpha, beta):
        """Moves that leave the other few answers come first."""
        later = []
        for field in singles(fields):
            turned = flips(own, other, field)
            mine, theirs = own | field | turned, other ^ turned
            answers = moves(theirs, mine)
            later.append((answers.bit_count(), mine, theirs, answers))
        later.sort()
        score = -64
        for _, mine, theirs, answers in later:
            score = max(score, -self.best(theirs, mine, answers, -beta, -max(alpha, score)))
            if score >= beta:
                break
        return score


def middle_game(source, empty):
    """A position with so many free fields, reached by moves at random."""
    own, other = 1 << 15 | 1 << 20, 1 << 14 | 1 << 21
    while 36 - (own | other).bit_count() > empty:
        fields = list(singles(moves(own, other)))
        if not fields:
            if not moves(other, own):
                return middle_game(source, empty)
        else:
            field = source.choice(fields)
            turned = flips(own, other, field)
            own, other = own | field | turned, other ^ turned
        own, other = other, own
    return own, other


def work(positions):
    source = random.Random(1883)
    found = []
    for _ in range(positions):
        solver = Solver()
        own, other = middle_game(source, 10)
        score = solver.best(own, other, moves(own, other), -64, 64)
        found.append([score, solver.visited, len(solver.known)])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=280)
