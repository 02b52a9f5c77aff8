# SPDX-License-Identifier: Apache-2.0
"""Clusters by k-means, then a support vector machine for them: scikit-learn on whole tables."""

import numpy as np
from sklearn.cluster import KMeans
from sklearn.svm import SVC

import harness


def work(repeats):
    rng = np.random.default_rng(105)
    found = []
    for seed in range(repeats):
        X = rng.normal(size=(3000, 10)) + 2.0 * rng.integers(3, size=(3000, 1))
        clusters = KMeans(n_clusters=6, n_init=4, random_state=seed).fit(X)
        model = SVC(C=1.0).fit(X, clusters.labels_)
        found.append([clusters.inertia_, model.score(X, clusters.labels_)])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=48)
