# SPDX-License-Identifier: Apache-2.0
"""An energy audit of a town's buildings: within the loop over hours, the building's own rows are picked again."""

import numpy as np
import pandas as pd

import harness

# Which rows belong to a building does not depend on the hour: loop-invariant computation.
CATEGORY = "loop-invariant computation"
KIND = "store"
BUILDINGS = ("bath", "fire station", "library", "museum", "nursery", "school", "theatre", "town hall")
DAYS = 60


def meters(rng):
    """Use of each building in each hour, kWh, and the temperature outside."""
    hours = pd.date_range("2020-01-06", periods=DAYS * 24, freq="H")
    frames = []
    outside = 4.0 + 6.0 * np.sin(2 * np.pi * (hours.hour.to_numpy() - 9) / 24) + np.cumsum(rng.normal(0, 0.15, len(hours)))
    for building in BUILDINGS:
        opens, closes = rng.integers(6, 10), rng.integers(16, 22)
        is_open = (hours.hour >= opens) & (hours.hour < closes) & (hours.dayofweek < 6)
        use = rng.uniform(2, 8) + is_open * rng.uniform(10, 40) + np.maximum(16 - outside, 0) * rng.uniform(0.2, 2)
        frames.append(pd.DataFrame({"building": building, "hour": hours.hour, "day": hours.dayofweek, "outside": outside,
                                    "use": (use * rng.lognormal(0, 0.08, len(hours))).round(2)}))
    return pd.concat(frames, ignore_index=True).sample(frac=1.0, random_state=int(rng.integers(2**31)), ignore_index=True)


def line(outside, use):
    """Use at 10 degrees, and more of it for each degree less."""
    centred = outside - outside.mean()
    slope = (centred * use).sum() / np.square(centred).sum()
    return use.mean() + slope * (10.0 - outside.mean()), -slope


def audit(table):
    found = []
    for building in BUILDINGS:
        for hour in range(24):
            own = table[table["building"] == building]  # waste: store
            rows = own[(own["hour"] == hour) & (own["day"] < 5)]
            found.append((building, hour, *line(rows["outside"].to_numpy(), rows["use"].to_numpy())))
    return pd.DataFrame(found, columns=["building", "hour", "base", "slope"])


def audit_fixed(table):
    found = []
    for building in BUILDINGS:
        own = table[table["building"] == building]
        for hour in range(24):
            rows = own[(own["hour"] == hour) & (own["day"] < 5)]
            found.append((building, hour, *line(rows["outside"].to_numpy(), rows["use"].to_numpy())))
    return pd.DataFrame(found, columns=["building", "hour", "base", "slope"])


def advice(result):
    """What could be saved at night, and how badly each building keeps its warmth."""
    wide = result.pivot(index="building", columns="hour", values="base")
    night, day = wide[[0, 1, 2, 3, 4]].mean(axis=1), wide[[10, 11, 12, 13]].mean(axis=1)
    leaks = result.groupby("building")["slope"].mean()
    return [(night / day).max(), (night / day).mean(), leaks.max(), leaks.sum(), wide.to_numpy().sum() / 1e3]


def work(towns, auditing):
    rng = np.random.default_rng(108)
    return [advice(auditing(meters(rng))) for _ in range(towns)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, audit), lambda n: work(n, audit_fixed), repeats=45)
