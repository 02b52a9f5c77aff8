# SPDX-License-Identifier: Apache-2.0
"""Allotment gardens: harvests of plots are set against their society's mean, then ranked by crop and year."""

import numpy as np
import pandas as pd

import harness

# A lambda is called for each group; the named aggregation is one call for all of them: API misuse.
CATEGORY = "API misuse"
KIND = "load"
CROPS = ("bean", "beetroot", "carrot", "courgette", "leek", "onion", "potato", "tomato")
PRICES = pd.Series({"bean": 4.2, "beetroot": 1.9, "carrot": 1.3, "courgette": 2.5, "leek": 2.8, "onion": 1.2,
                    "potato": 1.1, "tomato": 3.6})


def harvests(rng, year, plots=2200):
    """A row for a plot and a crop."""
    count = plots * 3
    plot = rng.integers(0, plots, count)
    crop = rng.integers(0, len(CROPS), count)
    table = pd.DataFrame({
        "plot": plot,
        "society": plot % 90,
        "crop": pd.Categorical.from_codes(crop, CROPS),
        "area": rng.gamma(3, 4, count) + 1,
        "compost": rng.integers(0, 4, count),
    })
    good = 1.6 + 0.15 * table["compost"] + 0.3 * np.sin(year + crop)
    table["kg"] = table["area"] * good * rng.lognormal(0, 0.35, count)
    return table


def against_society(table):
    yields = table["kg"] / table["area"]
    groups = yields.groupby(table["society"])
    return groups.transform(lambda part: part - part.mean())  # waste: load


def against_society_fixed(table):
    yields = table["kg"] / table["area"]
    return yields - yields.groupby(table["society"]).transform("mean")


def best_plots(table):
    """For each crop, the plot that is the furthest above its society."""
    at = table.groupby("crop", observed=True)["above"].idxmax()
    return table.loc[at, ["plot", "above"]]


def compost_effect(table):
    """Slope of what is above the mean by spadefuls of compost."""
    x = table["compost"] - table["compost"].mean()
    return float((x * table["above"]).sum() / (x * x).sum())


def income(table):
    """What the harvest of a society would have cost in the shop."""
    prices = table["crop"].map(PRICES).astype(float)
    return (table["kg"] * prices).groupby(table["society"]).sum()


def matrix(table):
    """Kilograms by society and crop."""
    return table.pivot_table(index="society", columns="crop", values="kg", aggfunc="sum", observed=False, fill_value=0)


def season(rng, year, centring):
    table = harvests(rng, year)
    table["above"] = centring(table)
    best = best_plots(table)
    money = income(table)
    shares = matrix(table)
    shares = shares.div(shares.sum(axis=1), axis=0)
    return [len(table), int(best["plot"].sum()), round(float(best["above"].sum()), 6),
            round(compost_effect(table), 8), int(money.idxmax()), round(float(money.max()), 3),
            round(float(shares.to_numpy().max()), 7), round(float(table["above"].std()), 7)]


def work(years, centring):
    rng = np.random.default_rng(7106)
    return [season(rng, year, centring) for year in range(years)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, against_society), lambda n: work(n, against_society_fixed), repeats=230)
