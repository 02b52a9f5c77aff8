# SPDX-License-Identifier: Apache-2.0
"""How many sequenced reads lie over each gene: every gene is compared with all reads of its chromosome."""

import numpy as np

import harness

CATEGORY = "inefficient algorithm"
KIND = "load"
LENGTH = 2_000_000


def genes(rng, count):
    starts = np.sort(rng.integers(LENGTH - 20_000, size=count))
    return starts, starts + rng.integers(300, 20_000, size=count)


def reads(rng, count):
    """Denser near some places, as from expressed genes."""
    centres = rng.integers(LENGTH, size=50)
    starts = (rng.choice(centres, size=count) + rng.normal(scale=40_000, size=count)).astype(np.int64)
    starts = starts.clip(0, LENGTH - 200)
    return starts, starts + rng.integers(75, 151, size=count)


def coverage(gene_starts, gene_ends, read_starts, read_ends):
    counts = np.empty(len(gene_starts), dtype=np.int64)
    for k, (start, end) in enumerate(zip(gene_starts, gene_ends)):
        counts[k] = np.count_nonzero((read_starts < end) & (read_ends > start))  # waste: load
    return counts


def coverage_fixed(gene_starts, gene_ends, read_starts, read_ends):
    begun = np.searchsorted(np.sort(read_starts), gene_ends, side="left")
    ended = np.searchsorted(np.sort(read_ends), gene_starts, side="right")
    return begun - ended


def work(repeats, count):
    rng = np.random.default_rng(3)
    found = []
    for _ in range(repeats):
        gene_starts, gene_ends = genes(rng, 900)
        read_starts, read_ends = reads(rng, 40_000)
        counts = count(gene_starts, gene_ends, read_starts, read_ends)
        density = counts / (gene_ends - gene_starts)
        found.append([counts.sum(), counts.max(), density.mean(), np.median(density)])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, coverage), lambda n: work(n, coverage_fixed), repeats=300)
