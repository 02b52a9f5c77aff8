# SPDX-License-Identifier: Apache-2.0
"""Rankings of a race with many starting places: each place is added to the list, which is sorted again."""

import heapq
import operator
import random

import harness

# All so far is copied and walked along for each small list; one merge would do: an inefficient algorithm.
CATEGORY = "inefficient algorithm"
KIND = "load"
CLUBS = ("TV Aue", "SC Berg", "LG Dorf", "Eiche", "Falken", "Hansa")
by_time = operator.itemgetter(0, 1)


def start_place(rng, first, runners):
    """(seconds, number, club, year of birth) of those who came in, the fastest first."""
    slope = rng.uniform(0.97, 1.04)
    rows = []
    for number in range(first, first + runners):
        seconds = round(slope * rng.lognormvariate(8.1, 0.14), 1)
        rows.append((seconds, number, rng.choice(CLUBS), rng.randrange(1945, 2010)))
    rows.sort(key=by_time)
    return rows


def ranking(places):
    everybody = []
    for rows in places:
        everybody = sorted(everybody + rows, key=by_time)  # waste: load
    return everybody


def ranking_fixed(places):
    return list(heapq.merge(*places, key=by_time))


def age_classes(rows):
    """The three best of each class."""
    classes = {}
    for rank, (seconds, number, _, year) in enumerate(rows, 1):
        best = classes.setdefault((2022 - year) // 5 * 5, [])
        if len(best) < 3:
            best.append((rank, seconds, number))
    return classes


def teams(rows, size=5):
    """Clubs by the sum of their five fastest."""
    sums, counts = dict.fromkeys(CLUBS, 0.0), dict.fromkeys(CLUBS, 0)
    for seconds, _, club, _ in rows:
        if counts[club] < size:
            counts[club] += 1
            sums[club] += seconds
    return sorted(sums.items(), key=operator.itemgetter(1))


def certificate(rank, row, count):
    seconds, number, club, _ = row
    return f"{rank:>6} of {count}  no. {number:05d}  {int(seconds) // 3600}:{int(seconds) // 60 % 60:02d}:{seconds % 60:04.1f}  {club}"


def race(rng, ranker):
    places = [start_place(rng, 1000 * place, rng.randrange(20, 60)) for place in range(70)]
    rows = ranker(places)
    classes, clubs = age_classes(rows), teams(rows)
    paper = sum(len(certificate(rank, row, len(rows))) for rank, row in enumerate(rows[:300], 1))
    third = sum(best[-1][0] for best in classes.values())
    return [len(rows), rows[len(rows) // 2][0], third, clubs[0][1], paper]


def work(races, ranker):
    rng = random.Random(105)
    return [race(rng, ranker) for _ in range(races)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, ranking), lambda n: work(n, ranking_fixed), repeats=720)
