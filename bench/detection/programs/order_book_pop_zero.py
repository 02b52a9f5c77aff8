# SPDX-License-Identifier: Apache-2.0
"""An exchange serves the oldest order first; orders wait in a list whose head is popped, which moves all others."""

import collections
import random

import harness

CATEGORY = "inefficient algorithm"
KIND = "store"
BACKLOG = 60000


def backlog(random_source):
    """[(number, pieces)] of orders to sell at one price, the oldest first."""
    return [(number, random_source.randrange(1, 50)) for number in range(BACKLOG)]


def match(waiting, wanted):
    """Serves all that is wanted; what is left of an order waits at the end, where a new order follows a sold one."""
    served, total, last = 0, 0, BACKLOG
    for pieces in wanted:
        while pieces > 0:
            number, offered = waiting.pop(0)  # waste: store
            sold = min(pieces, offered)
            pieces -= sold
            served += 1
            total += sold * (number % 97)
            waiting.append((number if offered > sold else last, offered - sold or 25))
            last += 1
    return served, total, len(waiting)


def match_fixed(waiting, wanted):
    waiting = collections.deque(waiting)
    served, total, last = 0, 0, BACKLOG
    for pieces in wanted:
        while pieces > 0:
            number, offered = waiting.popleft()
            sold = min(pieces, offered)
            pieces -= sold
            served += 1
            total += sold * (number % 97)
            waiting.append((number if offered > sold else last, offered - sold or 25))
            last += 1
    return served, total, len(waiting)


def work(repeats, trade):
    random_source = random.Random(103)
    orders = backlog(random_source)
    found = []
    for _ in range(repeats):
        wanted = [random_source.randrange(10, 200) for _ in range(10000)]
        found.append(trade(list(orders), wanted))
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, match), lambda n: work(n, match_fixed), repeats=42)
