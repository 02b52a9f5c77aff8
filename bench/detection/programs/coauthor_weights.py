# SPDX-License-Identifier: Apache-2.0
"""How often scientists wrote together: single elements of a sparse matrix are read for each pair in question."""

import numpy as np
from scipy.sparse import coo_matrix

import harness

CATEGORY = "slice underutilization"
KIND = "load"
AUTHORS = 3_000


def papers(rng, count):
    """Author and paper, once for each author of a paper."""
    authors = rng.integers(1, 7, size=count)
    paper = np.repeat(np.arange(count), authors)
    author = np.minimum(rng.pareto(0.9, size=len(paper)) * 20, AUTHORS - 1).astype(int)
    return author, paper


def together(author, paper):
    written = coo_matrix((np.ones(len(author)), (author, paper)), shape=(AUTHORS, paper.max() + 1)).tocsr()
    return (written @ written.T).tocsr()


def strengths(common, pairs):
    found = []
    for one, other in pairs:
        both = common[one, other]  # waste: load
        found.append(both / max(1.0, (common[one, one] * common[other, other]) ** 0.5))  # waste: load
    return np.array(found)


def strengths_fixed(common, pairs):
    one, other = pairs.T
    both = np.asarray(common[one, other]).ravel()
    single = common.diagonal()
    return both / np.maximum(1.0, np.sqrt(single[one] * single[other]))


def work(repeats, weigh):
    rng = np.random.default_rng(1969)
    found = []
    for _ in range(repeats):
        author, paper = papers(rng, 4_000)
        pairs = np.minimum(rng.pareto(0.9, size=(2_500, 2)) * 20, AUTHORS - 1).astype(int)
        values = weigh(together(author, paper), pairs)
        found.append([values.mean(), np.count_nonzero(values), np.quantile(values, 0.95)])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, strengths), lambda n: work(n, strengths_fixed), repeats=40)
