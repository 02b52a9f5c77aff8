# SPDX-License-Identifier: Apache-2.0
"""How busy a server was in each hour, from lines of a log whose times are read by pandas, one after the other."""

import numpy as np
import pandas as pd

import harness

CATEGORY = "API misuse"
KIND = "load"
FORMAT = "%Y-%m-%d %H:%M:%S"


def log(rng, start, lines):
    seconds = np.cumsum(rng.exponential(20.0, size=lines)).astype(int)
    times = np.datetime_as_string(np.datetime64(start) + seconds.astype("timedelta64[s]"))
    return [f"{time.replace('T', ' ')} GET /page/{page}" for time, page in zip(times, rng.integers(99, size=lines))]


def times_of(lines):
    times = []
    for line in lines:
        times.append(pd.to_datetime(line[:19], format=FORMAT))  # waste: load
    return pd.Series(times)


def times_of_fixed(lines):
    return pd.Series(pd.to_datetime([line[:19] for line in lines], format=FORMAT))


def work(repeats, read):
    rng = np.random.default_rng(63)
    found = []
    for _ in range(repeats):
        times = read(log(rng, "2023-03-01T00:00:00", 4000))
        per_hour = times.dt.hour.value_counts().reindex(range(24), fill_value=0)
        found.append([*per_hour, times.diff().max().total_seconds()])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, times_of), lambda n: work(n, times_of_fixed), repeats=13)
