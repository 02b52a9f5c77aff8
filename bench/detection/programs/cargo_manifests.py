# SPDX-License-Identifier: Apache-2.0
"""Air cargo: manifests lie in a table as JSON, and each report of the day parses them all once more."""

import collections
import json
import random
import sqlite3

import harness

# The manifests are the same for all reports of a day: repeated native calls.
CATEGORY = "repeated native calls"
KIND = "load"
PORTS = ("LEJ", "LUX", "ANC", "MEM", "HKG", "DWB", "LGG", "CVG")
GOODS = ("flowers", "chips", "horses", "medicine", "fish", "batteries", "mail")
RISKY = {"batteries", "chips"}


def manifest(rng, number):
    """One waybill with its pieces."""
    pieces = [{"goods": rng.choice(GOODS), "kg": round(rng.gammavariate(2, 60), 1),
               "size": [rng.randrange(20, 160)] * 3, "seal": f"{rng.randrange(16 ** 6):06x}"}
              for _ in range(rng.randrange(3, 16))]
    return {"number": number, "from": rng.choice(PORTS), "to": rng.choice(PORTS), "pieces": pieces,
            "hours": rng.randrange(4, 60), "remarks": ["keep dry"] * rng.randrange(4)}


class Store:
    def __init__(self):
        self.db = sqlite3.connect(":memory:")
        self.db.execute("CREATE TABLE manifest (number INTEGER PRIMARY KEY, day INTEGER, body TEXT)")
        self.db.execute("CREATE INDEX manifest_day ON manifest (day)")

    def add(self, day, manifests):
        self.db.executemany("INSERT INTO manifest VALUES (?, ?, ?)",
                            [(one["number"], day, json.dumps(one)) for one in manifests])

    def bodies(self, day):
        return [body for body, in self.db.execute("SELECT body FROM manifest WHERE day = ? ORDER BY number", (day,))]


def weights(manifests):
    """Kilograms by route."""
    sums = collections.defaultdict(float)
    for one in manifests:
        sums[one["from"], one["to"]] += sum(piece["kg"] for piece in one["pieces"])
    return round(max(sums.values()), 3)


def late(manifests):
    return sum(one["hours"] > 48 for one in manifests)


def dangerous(manifests):
    return sum(any(piece["goods"] in RISKY for piece in one["pieces"]) for one in manifests)


def volume(manifests):
    """Chargeable weight: six litres count as a kilogram."""
    total = 0.0
    for one in manifests:
        for piece in one["pieces"]:
            a, b, c = piece["size"]
            total += max(piece["kg"], a * b * c / 6000)
    return round(total, 3)


def loops(manifests):
    return sum(one["from"] == one["to"] for one in manifests)


def seals(manifests):
    return len({piece["seal"][:3] for one in manifests for piece in one["pieces"]})


REPORTS = (weights, late, dangerous, volume, loops, seals)


def reports(store, day):
    found = []
    for report in REPORTS:
        manifests = [json.loads(body) for body in store.bodies(day)]  # waste: load
        found.append(report(manifests))
    return found


def reports_fixed(store, day):
    manifests = [json.loads(body) for body in store.bodies(day)]
    return [report(manifests) for report in REPORTS]


def work(days, reporting):
    rng, rows, store = random.Random(646), [], Store()
    for day in range(days):
        store.add(day, [manifest(rng, day * 1000 + number) for number in range(220)])
        rows.append(reporting(store, day))
    return rows


if __name__ == "__main__":
    harness.main(lambda n: work(n, reports), lambda n: work(n, reports_fixed), repeats=170)
