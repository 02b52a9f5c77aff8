# SPDX-License-Identifier: Apache-2.0
"""Tram tickets: exports of validators become tables; pandas guesses how their times are written."""

import io
import random

import pandas as pd

import harness

# With its format given a column of times is parsed by compiled code, not by dateutil: API misuse.
CATEGORY = "API misuse"
KIND = "load"
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
LINES = (1, 2, 4, 6, 9)
FARES = {"adult": 320, "child": 160, "senior": 210, "pass": 0}


def export(rng, rows):
    """A validator's file as its maker writes it."""
    out = io.StringIO()
    out.write("card;line;kind;at\n")
    for _ in range(rows):
        month, day = rng.randrange(12), rng.randrange(1, 29)
        hour = min(23, max(4, int(rng.gauss(13, 5))))
        at = f"{MONTHS[month]} {day}, 2023 {hour:02}:{rng.randrange(60):02}:{rng.randrange(60):02}"
        kind = rng.choices(list(FARES), (5, 1, 2, 8))[0]
        out.write(f"{rng.randrange(2500)};{rng.choice(LINES)};{kind};{at}\n")
    return out.getvalue()


def times(column):
    return pd.to_datetime(column)  # waste: load


def times_fixed(column):
    return pd.to_datetime(column, format="%b %d, %Y %H:%M:%S")


def load(text, parsing):
    table = pd.read_csv(io.StringIO(text), sep=";", dtype={"kind": "category"})
    table["at"] = parsing(table["at"])
    table["fare"] = table["kind"].map(FARES).astype(int)
    return table.sort_values(["card", "at"], ignore_index=True)


def transfers(table):
    """A second validation of a card within an hour costs nothing."""
    gap = table.groupby("card")["at"].diff()
    free = gap < pd.Timedelta(hours=1)
    return table.assign(paid=table["fare"].where(~free, 0)), int(free.sum())


def by_hour(table):
    counts = table.groupby([table["at"].dt.hour, "line"]).size().unstack(fill_value=0)
    busy = counts.sum(axis=1).idxmax()
    return int(busy), int(counts.loc[busy].max())


def weekends(table):
    return float((table["at"].dt.dayofweek >= 5).mean())


def work(files, parsing):
    rng, rows = random.Random(621), []
    for _ in range(files):
        table, free = transfers(load(export(rng, 4000), parsing))
        monthly = table.groupby(table["at"].dt.month)["paid"].sum()
        rows.append([len(table), free, *by_hour(table), round(weekends(table), 6), *monthly])
    return rows


if __name__ == "__main__":
    harness.main(lambda n: work(n, times), lambda n: work(n, times_fixed), repeats=34)
