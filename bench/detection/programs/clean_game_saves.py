# SPDX-License-Identifier: Apache-2.0
"""Saves of a video game in SQLite by way of small models: each query has an index, and asks for something else."""

import random
import sqlite3

import harness

SCHEMA = """
CREATE TABLE hero (id INTEGER PRIMARY KEY, name TEXT, level INTEGER, gold INTEGER);
CREATE TABLE item (id INTEGER PRIMARY KEY, hero INTEGER REFERENCES hero, kind TEXT, power INTEGER, wear INTEGER);
CREATE INDEX item_of_hero ON item (hero, kind);
CREATE TABLE fight (id INTEGER PRIMARY KEY, hero INTEGER, foe INTEGER, won INTEGER);
"""
KINDS = ["sword", "bow", "ring", "cloak", "potion", "shield"]


class Model:
    table, fields = "", ()

    def __init__(self, **values):
        self.__dict__.update(values)

    @classmethod
    def where(cls, db, clause, *values):
        rows = db.execute(f"SELECT {', '.join(cls.fields)} FROM {cls.table} WHERE {clause}", values)
        return [cls(**dict(zip(cls.fields, row))) for row in rows]

    def save(self, db):
        names = [name for name in self.fields if name in self.__dict__]
        marks = ", ".join("?" * len(names))
        db.execute(f"INSERT OR REPLACE INTO {self.table} ({', '.join(names)}) VALUES ({marks})",
                   [getattr(self, name) for name in names])


class Hero(Model):
    table, fields = "hero", ("id", "name", "level", "gold")

    def items(self, db, kind):
        return Item.where(db, "hero = ? AND kind = ? ORDER BY power DESC LIMIT 3", self.id, kind)


class Item(Model):
    table, fields = "item", ("id", "hero", "kind", "power", "wear")


def fight(db, rng, first, second):
    strengths = []
    for hero in (first, second):
        kind = rng.choice(KINDS)
        items = hero.items(db, kind)
        strengths.append(hero.level * rng.random() + sum(item.power - item.wear for item in items))
        for item in items:
            item.wear += 1
            item.save(db)
    winner, loser = (first, second) if strengths[0] >= strengths[1] else (second, first)
    db.execute("INSERT INTO fight (hero, foe, won) VALUES (?, ?, 1)", (winner.id, loser.id))
    prize = min(loser.gold, rng.randrange(50))
    winner.gold, loser.gold, winner.level = winner.gold + prize, loser.gold - prize, winner.level + 1
    if rng.random() < 0.3:
        Item(hero=winner.id, kind=rng.choice(KINDS), power=rng.randrange(5, 30), wear=0).save(db)
    winner.save(db)
    loser.save(db)
    return strengths


def work(evenings):
    rng, found = random.Random(20), []
    for _ in range(evenings):
        db = sqlite3.connect(":memory:")
        db.executescript(SCHEMA)
        for number in range(500):
            Hero(id=number, name=f"hero {number}", level=1, gold=rng.randrange(300)).save(db)
        for _ in range(2000):
            ids = rng.sample(range(500), 2)
            pair = [Hero.where(db, "id = ?", number)[0] for number in ids]
            found.append(fight(db, rng, *pair))
        found.append(list(db.execute("SELECT max(level), max(gold) FROM hero").fetchone()))
        db.close()
    return found


if __name__ == "__main__":
    harness.main(work, repeats=220)
