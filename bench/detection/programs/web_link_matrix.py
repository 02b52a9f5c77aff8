# SPDX-License-Identifier: Apache-2.0
"""Ranks the pages of small web sites; their links are set one by one in a compressed sparse matrix."""

import random
import warnings

import numpy as np
from scipy.sparse import csr_matrix

import harness

CATEGORY = "API misuse"
KIND = "store"
PAGES = 400


def crawl(rng):
    """(from, to) of each link; popular pages get more of them."""
    links = set()
    for page in range(PAGES):
        for _ in range(rng.randrange(1, 7)):
            links.add((page, min(int(rng.paretovariate(0.7)) - 1, PAGES - 1)))
            links.add((page, rng.randrange(PAGES)))
    return sorted(links)


def matrix(links):
    found = csr_matrix((PAGES, PAGES))
    for source, target in links:
        found[target, source] = 1.0  # waste: store
    return found


def matrix_fixed(links):
    sources, targets = np.array(links).T
    return csr_matrix((np.ones(len(links)), (targets, sources)), shape=(PAGES, PAGES))


def rank(links):
    out = np.asarray(links.sum(axis=0)).ravel()
    weights = np.full(PAGES, 1.0 / PAGES)
    for _ in range(60):
        following = 0.15 / PAGES + 0.85 * (links @ (weights / out))
        if np.abs(following - weights).max() < 1e-9:
            break
        weights = following
    return weights


def work(repeats, build):
    rng = random.Random(45)
    found = []
    for _ in range(repeats):
        weights = rank(build(crawl(rng)))
        found.append([weights[:10].sum(), weights.max(), np.argmax(weights)])
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    harness.main(lambda n: work(n, matrix), lambda n: work(n, matrix_fixed), repeats=14)
