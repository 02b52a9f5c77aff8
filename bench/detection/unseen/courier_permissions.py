# SPDX-License-Identifier: Apache-2.0
"""The back end of a parcel service: a user's permissions are decoded from JSON each time the property is read."""

import json
import random

import harness

# Whoever may see a parcel is asked for every parcel; json.loads gets the same text each time: repeated native calls.
CATEGORY = "repeated native calls"
KIND = "store"
REGIONS = [f"{a}{b}" for a in "NSWE" for b in range(12)]
ACTIONS = ("view", "assign", "refund", "print", "reroute")


class User:
    """As it comes out of the database."""

    def __init__(self, row):
        self.id, self.name, self.permissions_json = row

    @property
    def permissions(self):
        return json.loads(self.permissions_json)  # waste: store

    def may(self, action, region):
        return region in self.permissions["regions"].get(action, ())

    @property
    def is_admin(self):
        return self.permissions["role"] == "admin"


class FixedUser(User):
    _permissions = None

    @property
    def permissions(self):
        if self._permissions is None:
            self._permissions = json.loads(self.permissions_json)
        return self._permissions


class Parcel:
    __slots__ = ("number", "region", "cents", "status")

    def __init__(self, rng, number):
        self.number = number
        self.region = rng.choice(REGIONS)
        self.cents = rng.randint(0, 30000)
        self.status = rng.choice(("new", "at depot", "on tour", "delivered", "lost"))


def user_row(rng, number):
    regions = {action: sorted(rng.sample(REGIONS, rng.randint(3, 30))) for action in ACTIONS}
    text = json.dumps({"role": "admin" if rng.random() < 0.05 else "clerk", "regions": regions, "theme": "dark"})
    return number, f"user{number}", text


def serialise(user, parcel):
    data = {"number": f"{parcel.number:010d}", "region": parcel.region, "price": parcel.cents / 100}
    data["actions"] = [action for action in ACTIONS if user.may(action, parcel.region)]
    if parcel.status != "delivered":
        data["status"] = parcel.status.title()
    return data


def list_view(user, parcels):
    visible = [p for p in parcels if user.is_admin or user.may("view", p.region)]
    page = [serialise(user, p) for p in visible[:50]]
    return json.dumps({"count": len(visible), "results": page})


def work(requests, model):
    rng = random.Random(88)
    rows = [user_row(rng, n) for n in range(200)]
    parcels = [Parcel(rng, n) for n in range(5000)]
    sizes = []
    for _ in range(requests):
        user = model(rng.choice(rows))
        start = rng.randrange(4800)
        sizes.append(len(list_view(user, parcels[start:start + 120])))
    return sizes


if __name__ == "__main__":
    harness.main(lambda n: work(n, User), lambda n: work(n, FixedUser), repeats=2200)
