# SPDX-License-Identifier: Apache-2.0
"""Which customers will leave? Tables of visits with pandas become features, from which scikit-learn learns; each region
has its own visits and its own model. Most customers have no visit in most months, so most features are zeros."""

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

import harness

CUSTOMERS, VISITS, MONTHS = 3000, 20_000, 12


def visits(rng):
    loyal = rng.gamma(0.5, size=CUSTOMERS)
    return pd.DataFrame({
        "customer": rng.choice(CUSTOMERS, size=VISITS, p=loyal / loyal.sum()),
        "month": rng.integers(MONTHS, size=VISITS),
        "spent": rng.gamma(2.0, 10.0, size=VISITS).round(2),
    })


def features(table):
    spent = table.pivot_table(index="customer", columns="month", values="spent", aggfunc="sum", fill_value=0.0)
    by_customer = table.groupby("customer")
    return spent.assign(visits=by_customer.size(), last=by_customer["month"].max(), most=by_customer["spent"].max())


def work(repeats):
    rng = np.random.default_rng(310)
    found = []
    for _ in range(repeats):
        known = features(visits(rng))
        has_left = (known["last"] + rng.normal(scale=2.0, size=len(known)) < 8.0).to_numpy()
        scaled = StandardScaler().fit_transform(known.to_numpy())
        half = len(scaled) // 2
        model = LogisticRegression(max_iter=300).fit(scaled[:half], has_left[:half])
        found.append([len(known), model.score(scaled[half:], has_left[half:]), model.coef_[0, -1]])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=160)
