# SPDX-License-Identifier: Apache-2.0
"""Reads, groups, joins and writes tables."""

import io

from without import needs

pandas = needs("pandas")
import numpy as np  # noqa: E402

rng = np.random.default_rng(1)
frame = pandas.DataFrame({"key": rng.integers(0, 50, 50_000), "x": rng.normal(size=50_000),
                          "word": rng.choice(["one", "two", "three"], 50_000)})
again = pandas.read_csv(io.StringIO(frame.to_csv(index=False)))
sums = again.groupby(["key", "word"]).x.sum().reset_index()
joined = again.merge(sums, on=["key", "word"])
print(len(joined), len(sums), f"{joined.x_y.abs().sum():.3f}")
