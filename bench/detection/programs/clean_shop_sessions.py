# SPDX-License-Identifier: Apache-2.0
"""Visits to a web shop: each day's clicks are cut into sessions, and the sessions' paths are counted."""

import numpy as np
import pandas as pd

import harness

PAGES = ["start", "list", "article", "basket", "pay", "help"]


def clicks(rng, day, count=60_000):
    frame = pd.DataFrame({
        "visitor": rng.integers(0, 4_000, size=count),
        "second": rng.integers(0, 86_400, size=count) + 86_400 * day,
        "page": pd.Categorical.from_codes(rng.choice(6, p=[0.2, 0.3, 0.3, 0.1, 0.04, 0.06], size=count), PAGES),
    })  # fmt: skip
    return frame.sort_values(["visitor", "second"], ignore_index=True)


def with_sessions(frame, pause=3_600):
    """A new session begins with each visitor, and after an hour without a click."""
    is_other = frame["visitor"].ne(frame["visitor"].shift())
    is_late = frame["second"].diff().gt(pause)
    return frame.assign(session=(is_other | is_late).cumsum())


def summary(frame):
    return frame.groupby("session").agg(
        visitor=("visitor", "first"),
        start=("second", "min"),
        end=("second", "max"),
        clicks=("second", "size"),
    )


def moves(frame):
    """How often each page follows each other one within a session."""
    follows = frame["page"].shift(-1)
    inside = frame["session"].eq(frame["session"].shift(-1))
    return pd.crosstab(frame["page"][inside], follows[inside], normalize="index")


def report(frame):
    sessions = summary(frame)
    hour = sessions["start"] % 86_400 // 3_600
    busy = sessions.groupby(hour)["clicks"].sum()
    paid = frame.loc[frame["page"].eq("pay"), "session"].nunique()
    lengths = (sessions["end"] - sessions["start"]).quantile([0.25, 0.5, 0.9])
    table = moves(frame).reindex(index=PAGES, columns=PAGES, fill_value=0.0)
    return [len(sessions), paid, busy.idxmax(), busy.max(), *lengths, *np.diag(table)]


def work(repeats):
    rng = np.random.default_rng(1995)
    return [report(with_sessions(clicks(rng, day))) for day in range(repeats)]


if __name__ == "__main__":
    harness.main(work, repeats=95)
