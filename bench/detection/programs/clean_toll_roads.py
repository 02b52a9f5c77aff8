# SPDX-License-Identifier: Apache-2.0
"""Toll roads: number plates seen at gates become trips, prices and bills by operations on whole tables."""

import numpy as np
import pandas as pd

import harness

GATES, PLATES, PASSES = 30, 6000, 60_000
CLASSES = ("car", "van", "lorry", "bus")
PER_KM = {"car": 0.08, "van": 0.11, "lorry": 0.21, "bus": 0.15}


def gates(rng):
    place = np.sort(rng.uniform(0, 320, GATES)).round(1)
    return pd.DataFrame({"gate": np.arange(GATES), "km": place, "tunnel": rng.random(GATES) < 0.2})


def vehicles(rng):
    kinds = pd.Categorical.from_codes(rng.choice(4, PLATES, p=(0.7, 0.15, 0.12, 0.03)), CLASSES)
    return pd.DataFrame({"plate": np.arange(PLATES), "kind": kinds, "green": rng.random(PLATES) < 0.25})


def day(rng):
    """Trips by plate: from gate to gate in one direction, and a few gates miss a plate."""
    trips = PASSES // 5
    plate, start = rng.integers(0, PLATES, trips), rng.uniform(0, 86_400, trips)
    first, way = rng.integers(0, GATES, trips), rng.choice((-1, 1), trips)
    steps = np.arange(5)
    gate = first[:, None] + way[:, None] * steps
    seconds = start[:, None] + steps * rng.uniform(240, 600, trips)[:, None]
    keep = (gate >= 0) & (gate < GATES) & (rng.random(gate.shape) < 0.97)
    return pd.DataFrame({"plate": np.repeat(plate, 5)[keep.ravel()], "gate": gate[keep],
                         "seconds": seconds[keep].round(1)})


def with_trips(passes, table):
    """A gap of half an hour begins a new trip."""
    order = np.lexsort((passes["seconds"].to_numpy(), passes["plate"].to_numpy()))
    passes = passes.take(order).merge(table, on="gate", how="left")
    plate, seconds, km = (passes[name].to_numpy() for name in ("plate", "seconds", "km"))
    fresh = np.ones(len(passes), dtype=bool)
    fresh[1:] = (plate[1:] != plate[:-1]) | (np.diff(seconds) > 1800)
    passes["trip"] = np.cumsum(fresh)
    passes["way"] = np.where(fresh, 0.0, np.abs(np.diff(km, prepend=km[0])))
    return passes


def bills(passes, owners):
    trips = passes.groupby("trip").agg(plate=("plate", "first"), km=("way", "sum"), start=("seconds", "min"),
                                       end=("seconds", "max"), tunnels=("tunnel", "sum"))
    trips = trips.merge(owners, on="plate")
    rate = trips["kind"].map(PER_KM).astype(float)
    night = (trips["start"] < 5 * 3600) | (trips["start"] > 22 * 3600)
    trips["cents"] = (trips["km"] * rate * 100 * np.where(night, 0.7, 1.0) + 150 * trips["tunnels"]).round()
    trips.loc[trips["green"], "cents"] *= 0.5
    trips["speed"] = trips["km"] / (trips["end"] - trips["start"]).clip(lower=60) * 3600
    return trips


def summary(trips):
    by_kind = trips.groupby("kind", observed=False)["cents"].sum().tolist()
    by_plate = trips.groupby("plate")["cents"].sum()
    fast = int((trips["speed"] > 130).sum())
    return [len(trips), *by_kind, float(by_plate.nlargest(20).sum()), fast, round(float(trips["km"].mean()), 6)]


def work(days):
    rng, rows = np.random.default_rng(648), []
    table, owners = gates(rng), vehicles(rng)
    for _ in range(days):
        rows.append(summary(bills(with_trips(day(rng), table), owners)))
    return rows


if __name__ == "__main__":
    harness.main(work, repeats=150)
