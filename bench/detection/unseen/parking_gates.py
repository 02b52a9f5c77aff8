# SPDX-License-Identifier: Apache-2.0
"""Car parks: a log of gates becomes stays, fees and the most cars at once; gaps between gates are looked for."""

import numpy as np
import pandas as pd

import harness

# Gaps between one row and the next are the difference of a column and its slice: slice underutilization.
CATEGORY = "slice underutilization"
KIND = "load"
SITES = ("Arcade", "Bridge", "Castle", "Depot", "Embankment")
LONG_GAP = 900


def gate_log(rng, cars):
    """Two rows for a car: in and out, in the order of time."""
    arrive = rng.integers(0, 86_400 - 7200, cars)
    stay = rng.gamma(2.2, 1500, cars).astype(int) + 60
    site = rng.integers(0, len(SITES), cars)
    plate = rng.permutation(90_000)[:cars]
    log = pd.DataFrame({
        "time": np.concatenate([arrive, arrive + stay]),
        "site": pd.Categorical.from_codes(np.concatenate([site, site]), SITES),
        "plate": np.concatenate([plate, plate]),
        "step": np.repeat([1, -1], cars),
    })
    return log.sort_values("time", kind="stable", ignore_index=True)


def long_gaps(times):
    """Times without a car at a gate: how many, and the longest."""
    count, longest = 0, 0
    for row in range(1, len(times)):
        gap = times.iloc[row] - times.iloc[row - 1]  # waste: load
        if gap > LONG_GAP:
            count += 1
        if gap > longest:
            longest = gap
    return count, int(longest)


def long_gaps_fixed(times):
    values = times.to_numpy()
    gaps = values[1:] - values[:-1]
    return int((gaps > LONG_GAP).sum()), int(gaps.max())


def stays(log):
    """A row for a car, with its minutes."""
    entry = log[log["step"] == 1].set_index("plate")
    leave = log.loc[log["step"] == -1, ["plate", "time"]].set_index("plate")["time"]
    entry["minutes"] = (leave.reindex(entry.index) - entry["time"]) // 60
    return entry


def fees(parked):
    """The first half an hour is free; then by the hour, up to the price of a day."""
    hours = np.ceil(np.clip(parked["minutes"] - 30, 0, None) / 60)
    return np.minimum(hours * 180, 1400)


def most_cars(log):
    """The highest number of cars at once, by site."""
    inside = log.groupby("site", observed=False)["step"].cumsum()
    return inside.groupby(log["site"], observed=False).max()


def report(log, gaps_of):
    parked = stays(log)
    parked["fee"] = fees(parked)
    income = parked.groupby("site", observed=False)["fee"].sum()
    peak = most_cars(log)
    rows = []
    for number, (name, part) in enumerate(log.groupby("site", observed=False)):
        rows.append([number, *gaps_of(part["time"]), income[name], peak[name]])
    busiest = parked["time"].floordiv(3600).value_counts().sort_index()
    rows.append([len(parked), int(busiest.idxmax()), int(busiest.max()), float(parked["minutes"].median()), 0])
    return rows


def work(days, gaps_of):
    rng = np.random.default_rng(7103)
    return [report(gate_log(rng, 350 + 40 * (day % 7)), gaps_of) for day in range(days)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, long_gaps), lambda n: work(n, long_gaps_fixed), repeats=430)
