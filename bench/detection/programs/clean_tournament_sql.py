# SPDX-License-Identifier: Apache-2.0
"""Tables of a chess league in SQLite: results are inserted in bulk, and indexed queries ask for each player's form."""

import random
import sqlite3

import harness

PLAYERS = 200
SCHEMA = """
create table game (round integer, white integer, black integer, half_points integer);
create index by_white on game (white, round);
create index by_black on game (black, round);
"""
FORM = """
with mine as (
    select * from (select round, half_points as got from game where white = :player and round <= :round
                   order by round desc limit 8)
    union all
    select * from (select round, 2 - half_points from game where black = :player and round <= :round
                   order by round desc limit 8)
)
select sum(got), count(*), sum(got * 1.0 / (1 + :round - round)) from (select * from mine order by round desc limit 8)
"""
STANDING = """
select player, sum(got) as points, rank() over (order by sum(got) desc, player) from (
    select white as player, half_points as got from game union all select black, 2 - half_points from game
) group by player order by points desc, player limit 5
"""


def rounds(rng, count):
    strength = [rng.gauss(0.0, 1.0) for _ in range(PLAYERS)]
    for number in range(count):
        order = rng.sample(range(PLAYERS), PLAYERS)
        games = []
        for white, black in zip(order[::2], order[1::2]):
            edge = strength[white] - strength[black] + rng.gauss(0.1, 1.0)
            games.append((number, white, black, 2 if edge > 0.4 else 0 if edge < -0.4 else 1))
        yield number, games


def season(rng, count):
    base = sqlite3.connect(":memory:")
    base.executescript(SCHEMA)
    found = [0, 0.0]
    for number, games in rounds(rng, count):
        with base:
            base.executemany("insert into game values (?, ?, ?, ?)", games)
        for player in rng.sample(range(PLAYERS), 120):
            points, played, weighted = base.execute(FORM, {"player": player, "round": number}).fetchone()
            found[0] += points * played
            found[1] += weighted
    leaders = [points for _, points, _ in base.execute(STANDING)]
    base.close()
    return [*found, *leaders]


def work(repeats):
    rng = random.Random(64)
    return [season(rng, 60) for _ in range(repeats)]


if __name__ == "__main__":
    harness.main(work, repeats=28)
