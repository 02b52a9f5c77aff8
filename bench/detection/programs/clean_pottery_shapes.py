# SPDX-License-Identifier: Apache-2.0
"""Sherds of a dig: profiles become a few Fourier terms, those are reduced, grouped and compared with the layers."""

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score, silhouette_score
from sklearn.preprocessing import StandardScaler

import harness

POINTS, TERMS = 256, 24
SHERDS, TYPES = 1400, 6


def profiles(rng):
    """Outlines of vessels of some types, each with the hand of its potter."""
    angle = np.linspace(0, 2 * np.pi, POINTS, endpoint=False)
    kinds = rng.integers(0, TYPES, SHERDS)
    terms = rng.normal(0, 1, (TYPES, 8)) / np.arange(2, 10)
    phases = rng.uniform(0, 2 * np.pi, (TYPES, 8))
    waves = np.cos(np.arange(1, 9)[None, :, None] * angle + phases[:, :, None])
    ideal = 5 + np.einsum("kt,ktp->kp", terms, waves)
    sizes = rng.lognormal(0, 0.3, (SHERDS, 1))
    return (ideal[kinds] + rng.normal(0, 0.35, (SHERDS, POINTS))) * sizes, kinds


def descriptors(outlines):
    """Size does not matter: the terms are parts of the first one."""
    terms = np.fft.rfft(outlines, axis=1)[:, :TERMS + 1]
    return np.abs(terms[:, 1:]) / np.abs(terms[:, :1])


def grouped(features, seed):
    scaled = StandardScaler().fit_transform(features)
    reduced = PCA(6, svd_solver="full").fit_transform(scaled)
    groups = KMeans(TYPES, n_init=8, random_state=seed).fit_predict(reduced)
    return reduced, groups


def layers(rng, kinds):
    """The types follow each other in time, so a layer has a mixture of neighbours."""
    return np.clip(np.round(kinds * 1.5 + rng.normal(0, 1, len(kinds))), 0, 8).astype(int)


def table(groups, depth):
    return np.bincount(groups * 9 + depth, minlength=TYPES * 9).reshape(TYPES, 9)


def chi_square(counts):
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    seen = expected > 0
    return float(np.sum((counts[seen] - expected[seen]) ** 2 / expected[seen]))


def work(digs):
    rng, rows = np.random.default_rng(629), []
    for dig in range(digs):
        outlines, kinds = profiles(rng)
        reduced, groups = grouped(descriptors(outlines), dig)
        counts = table(groups, layers(rng, kinds))
        rows.append([adjusted_rand_score(kinds, groups), silhouette_score(reduced, groups), chi_square(counts),
                     int(np.bincount(groups).max())])
    return np.round(rows, 5)


if __name__ == "__main__":
    harness.main(work, repeats=100)
