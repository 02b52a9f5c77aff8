# SPDX-License-Identifier: Apache-2.0
"""Binding sites in promoters: the counts of a motif are turned into log odds for each window that is scored."""

import numpy as np

import harness

CATEGORY = "loop-invariant computation"
KIND = "store"
LENGTH, WIDTH = 300, 14
BACKGROUND = np.array([0.29, 0.21, 0.21, 0.29])
PLACES = np.arange(WIDTH)


def motif(rng):
    """How often each base was seen at each place of known sites."""
    strong = rng.dirichlet([0.4] * 4, size=WIDTH).T
    return rng.poisson(40.0 * strong)


def log_odds(counts):
    chances = (counts + BACKGROUND[:, None]) / (counts.sum(axis=0) + 1.0)  # waste: store
    return np.log2(chances / BACKGROUND[:, None])  # waste: store


def score(window, counts):
    return log_odds(counts)[window, PLACES].sum()  # waste: store


def score_fixed(window, odds):
    return odds[window, PLACES].sum()


def best_site(promoter, rate):
    """The best window, where it begins, and how many others could be sites, too."""
    scores = [rate(promoter[k : k + WIDTH]) for k in range(LENGTH - WIDTH + 1)]
    best = max(scores)
    return best, scores.index(best), sum(found > 0.0 for found in scores)


def scan(promoters, counts):
    return [best_site(promoter, lambda window: score(window, counts)) for promoter in promoters]


def scan_fixed(promoters, counts):
    odds = log_odds(counts)
    return [best_site(promoter, lambda window: score_fixed(window, odds)) for promoter in promoters]


def work(repeats, search):
    rng = np.random.default_rng(1990)
    found = []
    for _ in range(repeats):
        counts = motif(rng)
        promoters = rng.choice(4, size=(20, LENGTH), p=BACKGROUND)
        found += search(promoters, counts)
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, scan), lambda n: work(n, scan_fixed), repeats=250)
