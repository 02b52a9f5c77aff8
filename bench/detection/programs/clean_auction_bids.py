# SPDX-License-Identifier: Apache-2.0
"""An auction of many lots: bids are kept in order by bisection, and lots close in the order of a heap."""

import bisect
import heapq
import random

import harness

LOTS, BIDDERS = 300, 900


class Lot:
    def __init__(self, number, least):
        self.number, self.least = number, least
        self.bids = []  # (cents, -minute, bidder), the best one last

    def bid(self, cents, minute, bidder):
        if cents < self.least:
            return False
        bisect.insort(self.bids, (cents, -minute, bidder))
        return True

    def price(self):
        """The winner pays what the second one offered."""
        return self.bids[-2][0] if len(self.bids) > 1 else self.least


def events(rng, closing, lots):
    """Bids in the order of time: (minute, lot, bidder, cents); each bidder has an idea of what a lot is worth."""
    minute = 0.0
    while minute < closing:
        minute += rng.expovariate(40.0)
        lot = rng.choice(lots)
        yield minute, lot, rng.randrange(BIDDERS), int(lot.least * rng.lognormvariate(0.3, 0.4))


def auction(rng):
    lots = [Lot(number, rng.randrange(500, 90000)) for number in range(LOTS)]
    ends = [(rng.uniform(60.0, 240.0), lot.number) for lot in lots]
    heapq.heapify(ends)
    refused, closed, income, spent = 0, set(), 0, {}
    for minute, lot, bidder, cents in events(rng, 240.0, lots):
        while ends and ends[0][0] <= minute:
            _, number = heapq.heappop(ends)
            closed.add(number)
            if lots[number].bids:
                winner = lots[number].bids[-1][2]
                income += lots[number].price()
                spent[winner] = spent.get(winner, 0) + lots[number].price()
        if lot.number in closed or not lot.bid(cents, minute, bidder):
            refused += 1
    return [refused, income, len(spent), max(spent.values())]


def work(repeats):
    rng = random.Random(756)
    return [auction(rng) for _ in range(repeats)]


if __name__ == "__main__":
    harness.main(work, repeats=280)
