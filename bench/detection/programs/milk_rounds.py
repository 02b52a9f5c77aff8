# SPDX-License-Identifier: Apache-2.0
"""The best order of seven farms for a milk lorry: all orders are made anew for each morning's travel times."""

import itertools

import numpy as np

import harness

CATEGORY = "repeated native calls"
KIND = "store"
FARMS = 7
ORDERS = []


def orders():
    return np.array(list(itertools.permutations(range(1, FARMS + 1))))  # waste: store


def orders_fixed():
    if not ORDERS:
        ORDERS.append(np.array(list(itertools.permutations(range(1, FARMS + 1)))))
    return ORDERS[0]


def morning(rng):
    """Minutes between the dairy (0) and the farms, with snow and road works of that day."""
    places = rng.uniform(0.0, 25.0, size=(FARMS + 1, 2))
    apart = np.linalg.norm(places[:, None] - places, axis=2)
    return apart * rng.uniform(1.2, 2.5, size=apart.shape)


def best(minutes, list_orders):
    """Shortest time, and the place in the order at which each farm is visited."""
    ways = list_orders()
    times = minutes[0, ways[:, 0]] + minutes[ways[:, -1], 0]
    for k in range(FARMS - 1):
        times += minutes[ways[:, k], ways[:, k + 1]]
    shortest = times.argmin()
    return times[shortest], np.argsort(ways[shortest])


def work(repeats, list_orders):
    rng = np.random.default_rng(1954)
    total, places = 0.0, np.zeros(FARMS)
    for _ in range(repeats):
        time, place = best(morning(rng), list_orders)
        total += time
        places += place
    return [total, *places]


if __name__ == "__main__":
    harness.main(lambda n: work(n, orders), lambda n: work(n, orders_fixed), repeats=1_200)
