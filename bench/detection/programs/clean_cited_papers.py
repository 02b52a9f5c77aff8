# SPDX-License-Identifier: Apache-2.0
"""Ranks papers of many fields by the walks of a random reader: sparse matrices, iterated until nothing moves."""

import numpy as np
from scipy import sparse

import harness


def field(rng, papers):
    """Papers cite older ones, more often those that are cited already."""
    cites = rng.poisson(9, size=papers)
    source = np.repeat(np.arange(papers), cites)
    target = (source * rng.beta(1.2, 2.5, size=len(source))).astype(int)
    return sparse.csr_matrix((np.ones(len(source)), (source, target)), shape=(papers, papers))


class Ranking:
    def __init__(self, cites, damping=0.85):
        n = cites.shape[0]
        out = np.asarray(cites.sum(axis=1)).ravel()
        self.dangling = out == 0
        scale = np.divide(1.0, out, out=np.zeros(n), where=~self.dangling)
        self.walk = (sparse.diags(damping * scale) @ cites).T.tocsr()
        self.damping, self.rounds = damping, 0

    def solve(self, start, tolerance=1e-13):
        """`start` is where the reader begins again."""
        rank = start.copy()
        while True:
            lost = rank[self.dangling].sum()
            new = self.walk @ rank
            new += (self.damping * lost + 1.0 - self.damping) * start
            self.rounds += 1
            if np.abs(new - rank).sum() < tolerance:
                return new
            rank = new


def by_age(n, rate):
    weight = np.exp(-rate * np.arange(n)[::-1] / n)
    return weight / weight.sum()


def work(fields):
    rng, found = np.random.default_rng(1998), []
    for _ in range(fields):
        cites = field(rng, int(rng.integers(15_000, 60_000)))
        ranking = Ranking(cites)
        ranks = [ranking.solve(by_age(cites.shape[0], rate)) for rate in (0.0, 2.0, 5.0)]
        top = [set(np.argsort(-rank, kind="stable")[:50]) for rank in ranks]
        found.append([ranking.rounds, ranks[0].max(), ranks[2].max(), len(top[0] & top[1]), len(top[0] & top[2])])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=60)
