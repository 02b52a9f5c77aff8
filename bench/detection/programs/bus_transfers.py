# SPDX-License-Identifier: Apache-2.0
"""A bus company's model of passengers: a sparse matrix of transfers is filled in place, entry by entry."""

import random

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

import harness

# A compressed matrix moves all its entries for each new one; build it from triplets: API misuse.
CATEGORY = "API misuse"
KIND = "store"
STOPS, LINES = 700, 45


def network(rng):
    """Lines as lists of stops; neighbours on a line are a few minutes apart."""
    places = [(rng.uniform(0, 20), rng.uniform(0, 20)) for _ in range(STOPS)]
    lines = []
    for _ in range(LINES):
        angle_x, angle_y = rng.uniform(-1, 1), rng.uniform(-1, 1)
        stops = rng.sample(range(STOPS), 26)
        lines.append(sorted(stops, key=lambda stop: places[stop][0] * angle_x + places[stop][1] * angle_y))
    return places, lines


def rides(rng, lines):
    """Minutes between stops in both directions; a pair may be on several lines, and then the quickest counts."""
    minutes = {}
    for line in lines:
        for before, after in zip(line, line[1:]):
            for pair in ((before, after), (after, before)):
                minutes[pair] = min(minutes.get(pair, 99.0), round(rng.uniform(1.5, 6.0), 1))
    return minutes


def matrix(minutes):
    times = sparse.csr_matrix((STOPS, STOPS))
    for (before, after), value in minutes.items():
        times[before, after] = value  # waste: store
    return times


def matrix_fixed(minutes):
    pairs = np.array(list(minutes))
    return sparse.csr_matrix((list(minutes.values()), (pairs[:, 0], pairs[:, 1])), (STOPS, STOPS))


def reach(times, depots):
    """Minutes from each depot, and how many stops are within half an hour of it."""
    table = csgraph.dijkstra(times, indices=depots, limit=90.0)
    near = np.count_nonzero(table < 30.0, axis=1)
    finite = table[np.isfinite(table)]
    return near, float(finite.mean())


def pieces(times):
    count, labels = csgraph.connected_components(times, directed=False)
    return count, int(np.bincount(labels).max())


def busiest(times):
    """Share of passengers by stop: the stationary flow of a walk along the lines."""
    out = np.asarray(times.astype(bool).sum(axis=1)).ravel()
    step = sparse.diags(1 / np.maximum(out, 1)) @ times.astype(bool).astype(float)
    step = step.T.tocsr()
    flow = np.full(STOPS, 1 / STOPS)
    for _ in range(60):
        flow = 0.85 * (step @ flow) + 0.15 / STOPS
    return int(flow.argmax()), round(float(flow.max()), 9)


def work(plans, building):
    rng, rows = random.Random(624), []
    for _ in range(plans):
        _, lines = network(rng)
        times = building(rides(rng, lines))
        near, mean = reach(times, rng.sample(range(STOPS), 12))
        rows.append([times.nnz, *near, round(mean, 6), *pieces(times), *busiest(times)])
    return rows


if __name__ == "__main__":
    import warnings

    warnings.filterwarnings("ignore", category=sparse.SparseEfficiencyWarning)
    harness.main(lambda n: work(n, matrix), lambda n: work(n, matrix_fixed), repeats=22)
