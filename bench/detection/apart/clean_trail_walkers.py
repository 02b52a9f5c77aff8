# SPDX-License-Identifier: Apache-2.0
"""Walkers in a park: where they are in the long run, from a sparse chain of junctions, for each state of the gates."""

import numpy as np
from scipy import sparse
from scipy.spatial import cKDTree

import harness

JUNCTIONS, GATES = 900, 40
TOLERANCE = 1e-7


class Park:
    """Paths between junctions near each other; some have gates that are shut at times."""

    def __init__(self, rng):
        places = rng.uniform(0, 1, (JUNCTIONS, 2))
        _, near = cKDTree(places).query(places, 5)
        ends = np.column_stack([np.repeat(np.arange(JUNCTIONS), 4), near[:, 1:].ravel()])
        ends = np.unique(np.sort(ends, axis=1), axis=0)
        self.pull = np.exp(rng.normal(0, 0.5, len(ends)))
        both = np.concatenate([ends, ends[:, ::-1]])
        numbers = np.arange(1, len(both) + 1)
        self.shape = sparse.csr_matrix((numbers, (both[:, 1], both[:, 0])), shape=(JUNCTIONS, JUNCTIONS))
        self.order = (self.shape.data - 1) % len(ends)
        self.gates = rng.choice(len(ends), GATES, replace=False)
        self.entry = np.where(places[:, 1] < 0.05, 1.0, 0.0)
        self.entry /= self.entry.sum()

    def chain(self, is_open):
        """Columns are where a walker is, rows where they go; a fifth leave the park at each junction."""
        pull = self.pull.copy()
        pull[self.gates[~is_open]] = 0.0
        weights, columns = pull[self.order], self.shape.indices
        going = np.bincount(columns, weights, JUNCTIONS)
        factor = 0.8 / np.where(going > 0, going, 1.0)
        weights *= factor[columns]
        return sparse.csr_matrix((weights, columns, self.shape.indptr), shape=self.shape.shape)


def settle(chain, start, entry):
    """Power iteration: steps until hardly anyone moves on balance, and the walkers at each junction."""
    walkers, count = start, 0
    while True:
        after = chain @ walkers
        after += entry * (1.0 - after.sum())
        count += 1
        if np.abs(after - walkers).sum() < TOLERANCE:
            return count, after
        walkers = after


def seasons(rng, count):
    """Which gates are open: a few of them change each week."""
    is_open = rng.random(GATES) < 0.6
    for _ in range(count):
        changed = rng.choice(GATES, 4, replace=False)
        is_open[changed] = ~is_open[changed]
        yield is_open


def crowding(walkers, visitors):
    """Benches that are wanted: one for each started dozen of those who rest."""
    resting = visitors * walkers * 0.2
    return int(np.ceil(resting / 12).sum()), int(walkers.argmax())


def entropy(walkers):
    seen = walkers[walkers > 0]
    return float(-(seen * np.log(seen)).sum())


def year(rng, park, weeks=26):
    walkers = np.full(JUNCTIONS, 1 / JUNCTIONS)
    for week, is_open in enumerate(seasons(rng, weeks)):
        count, walkers = settle(park.chain(is_open), walkers, park.entry)
        visitors = 3000 * (1 + np.sin(np.pi * week / weeks))
        yield [count, *crowding(walkers, visitors), round(entropy(walkers), 6), round(float(walkers.max()), 8)]


def work(parks):
    rng, rows = np.random.default_rng(7213), []
    for _ in range(parks):
        rows.extend(year(rng, Park(rng)))
    return rows


if __name__ == "__main__":
    harness.main(work, repeats=480)
