# SPDX-License-Identifier: Apache-2.0
"""A forest, with worker threads, and a clustering (OpenMP)."""

from without import needs

needs("sklearn")
from sklearn.cluster import KMeans  # noqa: E402
from sklearn.datasets import make_classification  # noqa: E402
from sklearn.ensemble import RandomForestClassifier  # noqa: E402

x, y = make_classification(2_000, 20, random_state=1)
forest = RandomForestClassifier(20, n_jobs=2, random_state=1).fit(x, y)
print(forest.score(x, y) > 0.9, KMeans(4, n_init=3, random_state=1).fit(x).cluster_centers_.shape)
