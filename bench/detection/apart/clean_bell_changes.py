# SPDX-License-Identifier: Apache-2.0
"""Church bells: methods of change ringing are composed of places, proved to repeat no row, and marked for music."""

import itertools
import random

import harness

BELLS = 8
ROUNDS = tuple(range(BELLS))
QUEENS = (0, 2, 4, 6, 1, 3, 5, 7)
CALLS = {"plain": (0, 1), "bob": (0, 3), "single": (0, 1, 2, 3)}
RUNS = frozenset((at, at + 1, at + 2, at + 3) for at in range(BELLS - 3))
RUNS |= frozenset(run[::-1] for run in RUNS)


def change(places):
    """The order in which positions are taken after a change: bells outside of the places swap in pairs."""
    order, at = list(range(BELLS)), 0
    while at < BELLS:
        if at in places or at + 1 == BELLS:
            at += 1
        else:
            order[at], order[at + 1] = at + 1, at
            at += 2
    return tuple(order)


PLACES = [change(places) for places in ((), (0, 7), (0, 3), (2, 5), (0, 1), (6, 7), (2, 7), (0, 5))]
ENDS = {name: change(places) for name, places in CALLS.items()}


class Method:
    """A lead is a palindrome of changes around its half that repeats no row; the end of it may be called."""

    def __init__(self, rng):
        while True:
            half = [PLACES[0]]
            for _ in range(6):
                half.append(rng.choice(PLACES[1:]))
                half.append(PLACES[0])
            self.lead = [*half, rng.choice(PLACES[1:]), *half[::-1]]
            rows = list(self.rows(["plain"]))
            if len(set(rows)) == len(rows) and ROUNDS not in rows:
                break

    def rows(self, calls):
        """Rows one by one, with a call for each lead."""
        row = ROUNDS
        for call in calls:
            for order in itertools.chain(self.lead, (ENDS[call],)):
                row = tuple([row[at] for at in order])
                yield row


def touch(method, calls, limit):
    """Rows until it comes round or a row comes twice; the latter is a false touch."""
    seen = []
    known = set()
    for row in itertools.islice(method.rows(calls), limit):
        if row in known:
            return seen, False
        known.add(row)
        seen.append(row)
        if row == ROUNDS:
            return seen, True
    return seen, True


def music(rows):
    """Runs of four at the front and the back, and rows that have a name."""
    front = back = named = 0
    for row in rows:
        front += row[:4] in RUNS
        back += row[-4:] in RUNS
        named += row == QUEENS
    return front, back, named


def parity(row):
    """Whether the row is an odd permutation, by its cycles."""
    odd, seen = 0, set()
    for at in row:
        length = 0
        while at not in seen:
            seen.add(at)
            at = row[at]
            length += 1
        odd ^= length > 0 and length % 2 == 0
    return odd


def work(methods):
    rng, rows = random.Random(7217), []
    names = list(CALLS)
    for _ in range(methods):
        method = Method(rng)
        best = [0, 0, 0, 0, 0, 0]
        for _ in range(12):
            calls = rng.choices(names, cum_weights=(5, 9, 10), k=60)
            found, is_true = touch(method, calls, 1700)
            front, back, named = music(found)
            best = max(best, [len(found) if is_true else 0, front + back, front, back, named, len(found)])
        odd = sum(map(parity, method.rows(["plain"])))
        rows.append(best + [odd])
    return rows


if __name__ == "__main__":
    harness.main(work, repeats=2100)
