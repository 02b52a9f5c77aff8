# SPDX-License-Identifier: Apache-2.0
"""Letters to donors: for each letter the gifts of all donors are grouped, and one group's median is taken."""

import numpy as np
import pandas as pd

import harness

CATEGORY = "loop-invariant computation"
KIND = "store"
DONORS = 1_500


def gifts(rng, count=12_000):
    donor = rng.integers(DONORS, size=count)
    return pd.DataFrame({
        "donor": donor,
        "cents": (rng.lognormal(8.0, 0.7, size=count) * (1 + donor % 7)).astype(int),
        "day": rng.integers(0, 730, size=count),
    })  # fmt: skip


def usual(history, donor):
    """What this donor gives: the median, and the last day."""
    known = history.groupby("donor").agg(cents=("cents", "median"), day=("day", "max"))  # waste: store
    return known.loc[donor]


def ask(usual_gift, today=730):
    """The sum to ask for, in steps of five euros; more from those who gave lately."""
    factor = 1.25 if today - usual_gift["day"] < 90 else 1.0
    return 500 * int(np.ceil(factor * usual_gift["cents"] / 500))


def letters(history, donors):
    return [ask(usual(history, donor)) for donor in donors]  # waste: store


def letters_fixed(history, donors):
    known = history.groupby("donor").agg(cents=("cents", "median"), day=("day", "max"))
    return [ask(known.loc[donor]) for donor in donors]


def work(repeats, write):
    rng = np.random.default_rng(1863)
    found = []
    for _ in range(repeats):
        history = gifts(rng)
        donors = rng.choice(history["donor"].unique(), size=80, replace=False)
        sums = write(history, donors)
        found.append([sum(sums), max(sums)])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, letters), lambda n: work(n, letters_fixed), repeats=12)
