# SPDX-License-Identifier: Apache-2.0
"""Beans: varieties are known by measures of their outline; the depth of a tree is chosen with seeds held out."""

import numpy as np
from sklearn.decomposition import PCA
from sklearn.metrics import confusion_matrix
from sklearn.tree import DecisionTreeClassifier

import harness

VARIETIES, BEANS, POINTS = 6, 420, 48
DEPTHS = (3, 5, 8)
ANGLES = np.linspace(0, 2 * np.pi, POINTS, endpoint=False)
COSINES, SINES = np.cos(ANGLES), np.sin(ANGLES)


class Harvest:
    """Outlines of beans: radii by angle, by the waves of a variety and its spread."""

    def __init__(self, rng):
        self.waves = rng.normal(0, 0.08, (VARIETIES, 5)) / np.arange(1, 6)
        self.sizes = rng.uniform(6, 9, VARIETIES)
        self.basis = np.cos(np.outer(np.arange(1, 6), ANGLES))

    def collect(self, rng):
        kind = rng.integers(0, VARIETIES, BEANS)
        waves = self.waves[kind] + rng.normal(0, 0.02, (BEANS, 5))
        radii = (1 + waves @ self.basis) * (self.sizes[kind] * rng.lognormal(0, 0.08, BEANS))[:, None]
        return radii + rng.normal(0, 0.05, radii.shape), kind


def measures(radii):
    """Area, girth, the widest and narrowest span, roughness and the first powers of the outline."""
    x, y = radii * COSINES, radii * SINES
    next_x, next_y = np.roll(x, -1, axis=1), np.roll(y, -1, axis=1)
    area = 0.5 * np.abs((x * next_y - next_x * y).sum(axis=1))
    girth = np.hypot(next_x - x, next_y - y).sum(axis=1)
    span = radii[:, :POINTS // 2] + radii[:, POINTS // 2:]
    power = np.abs(np.fft.rfft(radii, axis=1))[:, 1:8] / radii.sum(axis=1, keepdims=True)
    rough = np.abs(np.diff(radii, 2, axis=1)).mean(axis=1)
    return np.column_stack([area, girth, area / girth ** 2, span.max(axis=1), span.min(axis=1), rough, power])


def reduced(table):
    """The directions in which the beans differ most, beside the measures; each harvest has its own."""
    scaled = (table - table.mean(axis=0)) / table.std(axis=0)
    return np.column_stack([scaled, PCA(4, svd_solver="full").fit_transform(scaled)])


def errors(table, kind, part):
    """How many of the beans that are held out a tree of each depth gets wrong."""
    learnt, kinds, others, others_kinds = table[~part], kind[~part], table[part], kind[part]
    trees = (DecisionTreeClassifier(max_depth=depth, random_state=0).fit(learnt, kinds) for depth in DEPTHS)
    return [int(np.count_nonzero(tree.predict(others) != others_kinds)) for tree in trees]


def best_depth(rng, table, kind):
    """By three parts, each held out in turn."""
    parts = rng.permutation(np.arange(BEANS) % 3)
    counts = np.sum([errors(table, kind, parts == part) for part in range(3)], axis=0)
    return DEPTHS[int(np.argmin(counts))], counts


def final(table, kind, later, kind_later, depth):
    """The chosen tree on the beans of the next week: what is confused with what."""
    tree = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(table, kind)
    confused = confusion_matrix(kind_later, tree.predict(later), labels=range(VARIETIES))
    np.fill_diagonal(confused, 0)
    return int(confused.sum()), int(confused.max()), tree.tree_.node_count


def report(rng):
    harvest = Harvest(rng)
    radii, kind = harvest.collect(rng)
    later, kind_later = harvest.collect(rng)
    table = reduced(measures(np.concatenate([radii, later])))
    depth, counts = best_depth(rng, table[:BEANS], kind)
    return [depth, *counts, *final(table[:BEANS], kind, table[BEANS:], kind_later, depth)]


def work(harvests):
    rng = np.random.default_rng(7216)
    return [report(rng) for _ in range(harvests)]


if __name__ == "__main__":
    harness.main(work, repeats=150)
