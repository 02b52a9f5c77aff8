# SPDX-License-Identifier: Apache-2.0
"""A power grid is planned over many scenarios; each takes a deep copy of the whole plan to change one number."""

import copy
import random

import harness

CATEGORY = "API misuse"
KIND = "load"
HOURS = 24


def plan(random_source):
    """Two prices and, for each plant, what it can give in each hour."""
    plants = {}
    for number in range(30):
        plants[f"plant{number}"] = {
            "cost": random_source.randrange(20, 90),
            "hours": [random_source.randrange(50, 200) for _ in range(HOURS)],
            "owner": {"name": f"owner{number % 7}", "share": 100 - number},
        }
    return {"carbon": 25, "demand": 2600, "plants": plants}


def cost(variant, hour):
    """Of one hour; cheap plants run first."""
    wanted, total = variant["demand"], 0
    for plant in sorted(variant["plants"].values(), key=lambda plant: plant["cost"]):
        given = min(wanted, plant["hours"][hour])
        wanted -= given
        total += given * (plant["cost"] + variant["carbon"])
    return total


def variants(base, demands):
    costs = []
    for number, demand in enumerate(demands):
        variant = copy.deepcopy(base)  # waste: load
        variant["demand"] = demand
        costs.append(sum(cost(variant, hour) for hour in range(number % 3, HOURS, 3)))
    return costs


def variants_fixed(base, demands):
    costs = []
    for number, demand in enumerate(demands):
        variant = copy.copy(base)
        variant["demand"] = demand
        costs.append(sum(cost(variant, hour) for hour in range(number % 3, HOURS, 3)))
    return costs


def work(repeats, study):
    random_source = random.Random(108)
    base = plan(random_source)
    found = []
    for _ in range(repeats):
        demands = [random_source.randrange(1500, 3500) for _ in range(50)]
        found.append([min(costs := study(base, demands)), max(costs), sum(costs)])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, variants), lambda n: work(n, variants_fixed), repeats=240)
