# SPDX-License-Identifier: Apache-2.0
"""Measurements collected in a data frame that is made anew, a row longer, for each of them: what a call costs, whatever
it is given, outweighs the rows that are copied."""

import numpy as np
import pandas as pd

import harness

CATEGORY = "API misuse"
KIND = "load"


def measurements(rng, count):
    for number in range(count):
        yield {"sensor": int(rng.integers(8)), "number": number, **dict(zip("abcdef", rng.random(6)))}


def collect(rows):
    frame = pd.DataFrame()
    for row in rows:
        frame = pd.concat([frame, pd.DataFrame([row])], ignore_index=True)  # waste: load
    return frame


def collect_fixed(rows):
    return pd.DataFrame(list(rows))


def work(repeats, gather):
    rng = np.random.default_rng(26)
    means = []
    for _ in range(repeats):
        frame = gather(measurements(rng, 2000))
        means.append(frame.groupby("sensor").mean().to_numpy())
    return means


if __name__ == "__main__":
    harness.main(lambda n: work(n, collect), lambda n: work(n, collect_fixed), repeats=17)
