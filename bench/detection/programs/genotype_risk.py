# SPDX-License-Identifier: Apache-2.0
"""Risk scores from genotypes: each letter code becomes its number of risk alleles with np.vectorize."""

import numpy as np

import harness

CATEGORY = "API misuse"
KIND = "load"
ALLELES = {0: 0, 1: 1, 2: 1, 3: 2, 4: 1, 5: 0, 6: 2, 7: 0}  # code of the chip: risk alleles
TABLE = np.array([ALLELES[code] for code in range(8)])


def chip(rng, people, sites):
    """Codes as the laboratory delivers them."""
    frequency = rng.dirichlet(np.ones(8))
    return rng.choice(8, size=(people, sites), p=frequency).astype(np.int16)


def counts(codes):
    return np.vectorize(ALLELES.get, otypes=[np.int64])(codes)  # waste: load


def counts_fixed(codes):
    return TABLE[codes]


def scores(alleles, effects):
    risk = alleles @ effects
    return (risk - risk.mean()) / risk.std()


def strata(risk):
    """How many people are in each fifth of the range, and the mean of the highest fifth."""
    edges = np.quantile(risk, [0.2, 0.4, 0.6, 0.8])
    group = np.searchsorted(edges, risk)
    return [*np.bincount(group, minlength=5), risk[group == 4].mean()]


def work(repeats, convert):
    rng = np.random.default_rng(600)
    effects = rng.normal(scale=0.1, size=400)
    found = []
    for _ in range(repeats):
        codes = chip(rng, 500, 400)
        found.append(strata(scores(convert(codes), effects)))
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, counts), lambda n: work(n, counts_fixed), repeats=280)
