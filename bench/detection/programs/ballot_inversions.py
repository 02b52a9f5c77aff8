# SPDX-License-Identifier: Apache-2.0
"""Ranked ballots of a club: how far each voter's order is from the winning order, counted pair by pair."""

import bisect
import collections
import random

import harness

# Inversions can be counted while the order is sorted in, not for all pairs: inefficient algorithm.
CATEGORY = "inefficient algorithm"
KIND = "load"
OPTIONS = 90


def ballots(rng, count):
    """Orders about a common opinion, some of them cut short."""
    opinion = list(range(OPTIONS))
    rng.shuffle(opinion)
    place = {option: at for at, option in enumerate(opinion)}
    for _ in range(count):
        spread = rng.choice((4, 12, 40))
        order = sorted(range(OPTIONS), key=lambda option: place[option] + rng.gauss(0, spread))
        yield order[:rng.randrange(OPTIONS // 2, OPTIONS + 1)]


def borda(votes):
    points = collections.Counter()
    for order in votes:
        for at, option in enumerate(order):
            points[option] += OPTIONS - at
    return sorted(range(OPTIONS), key=lambda option: (-points[option], option))


def inversions(places):
    count = 0
    for first in range(len(places)):
        for second in range(first + 1, len(places)):
            if places[first] > places[second]:  # waste: load
                count += 1
    return count


def inversions_fixed(places):
    seen, count = [], 0
    for place in places:
        at = bisect.bisect(seen, place)
        count += len(seen) - at
        seen.insert(at, place)
    return count


def eliminate(votes):
    """Instant run-off down to three options: the last one of each round goes."""
    left = set(range(OPTIONS))
    at = [0] * len(votes)
    heads = collections.defaultdict(list)
    for number, order in enumerate(votes):
        heads[order[0]].append(number)
    while len(left) > 3:
        out = min(left, key=lambda option: (len(heads[option]), option))
        left.discard(out)
        for number in heads.pop(out, ()):
            order = votes[number]
            while at[number] < len(order) and order[at[number]] not in left:
                at[number] += 1
            if at[number] < len(order):
                heads[order[at[number]]].append(number)
    return sorted(left, key=lambda option: (-len(heads[option]), option))


def agreement(votes, winner, counting):
    place = {option: at for at, option in enumerate(winner)}
    shares = []
    for order in votes:
        pairs = len(order) * (len(order) - 1) // 2
        shares.append(counting([place[option] for option in order]) / pairs)
    return shares


def work(elections, counting):
    rng, rows = random.Random(616), []
    for _ in range(elections):
        votes = list(ballots(rng, 120))
        winner = borda(votes)
        shares = agreement(votes, winner, counting)
        rows.append([*winner[:3], *eliminate(votes), sum(shares), max(shares), min(shares)])
    return rows


if __name__ == "__main__":
    harness.main(lambda n: work(n, inversions), lambda n: work(n, inversions_fixed), repeats=420)
