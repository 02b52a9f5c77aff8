# SPDX-License-Identifier: Apache-2.0
"""Costs of trades against the quotes of their moment: sorted tables joined by time, sums by group."""

import numpy as np
import pandas as pd

import harness

NAMES = ("ALMA", "BRIO", "CORA", "DUNE", "ETNA", "FARO")
OPEN = pd.Timestamp("2021-03-01 09:00")


def stamps(rng, count, hours=8.5):
    """Moments of a day, more of them at its start and its end."""
    share = rng.beta(0.7, 0.75, count)
    share.sort()
    return OPEN + pd.to_timedelta((share * hours * 3.6e9).astype(np.int64), unit="us")


def quotes(rng, name, count):
    middle = rng.uniform(20.0, 300.0) * np.exp(np.cumsum(rng.normal(scale=1e-4, size=count)))
    half = middle * rng.gamma(2.0, 1.5e-4, count)
    frame = pd.DataFrame({"time": stamps(rng, count), "bid": middle - half, "ask": middle + half})
    frame["name"] = name
    return frame


def trades(rng, book, count):
    """Trades somewhere around the last quotes, a few of them far away."""
    times = stamps(rng, count)
    last = np.searchsorted(book["time"].to_numpy(), times.to_numpy(), side="right").clip(1) - 1
    side = rng.choice([-1, 1], count)
    bid, ask = book["bid"].to_numpy()[last], book["ask"].to_numpy()[last]
    price = (bid + ask) / 2.0 + side * (ask - bid) * rng.normal(0.45, 0.15, count)
    frame = pd.DataFrame({"time": times, "price": price.round(3), "side": side, "size": rng.geometric(0.01, count)})
    frame["name"] = book["name"].iloc[0]
    return frame


def day(rng):
    books = [quotes(rng, name, 1_500) for name in NAMES]
    sold = [trades(rng, book, 700) for book in books]
    return [pd.concat(parts).sort_values("time", kind="stable", ignore_index=True) for parts in (books, sold)]


def costs(book, sold):
    """Of each trade, in basis points of the middle: at once, and against the middle five minutes later."""
    joined = pd.merge_asof(sold, book, on="time", by="name", tolerance=pd.Timedelta("10min"))
    later = book.assign(time=book["time"] - pd.Timedelta("5min"))[["time", "name", "bid", "ask"]]
    joined = pd.merge_asof(joined, later, on="time", by="name", suffixes=("", "_later")).dropna()
    middle = (joined["bid"] + joined["ask"]) / 2.0
    after = (joined["bid_later"] + joined["ask_later"]) / 2.0
    scale = 2e4 * joined["side"] / middle
    return joined.assign(effective=scale * (joined["price"] - middle), realised=scale * (joined["price"] - after),
                         value=joined["price"] * joined["size"])


def table(priced):
    """Weighted means for each name and half hour."""
    keys = ["name", pd.Grouper(key="time", freq="30min")]
    weighted = priced[["effective", "realised"]].mul(priced["value"], axis=0)
    sums = weighted.assign(value=priced["value"], name=priced["name"], time=priced["time"]).groupby(keys).sum()
    return sums[["effective", "realised"]].div(sums["value"], axis=0).unstack("name")


def work(days):
    rng = np.random.default_rng(1602)
    found = []
    for _ in range(days):
        means = table(costs(*day(rng)))
        worst = means["effective"].rolling(3, min_periods=1).mean().max()
        found.append([*means.mean(), *worst.reindex(list(NAMES))])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=240)
