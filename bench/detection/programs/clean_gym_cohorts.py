# SPDX-License-Identifier: Apache-2.0
"""Members of gyms by cohort: month by month, other visits are grouped, pivoted and joined with pandas."""

import numpy as np
import pandas as pd

import harness

CLUBS = np.array(["North", "South", "Harbour", "Old Town", "Campus"])


def members(rng, n):
    return pd.DataFrame({
        "member": np.arange(n),
        "club": pd.Categorical.from_codes(rng.integers(len(CLUBS), size=n), CLUBS),
        "joined": pd.Timestamp("2015-01-01") + pd.to_timedelta(rng.integers(0, 1500, size=n), unit="D"),
        "fee": rng.choice([19.9, 24.9, 39.9, 59.0], size=n, p=[0.4, 0.3, 0.2, 0.1]),
    })


def visits(rng, month, people):
    eager = rng.gamma(0.6, 5.0, size=len(people))
    count = rng.poisson(eager)
    who = np.repeat(people["member"].to_numpy(), count)
    seconds = rng.integers(0, 30 * 86400, size=len(who))
    return pd.DataFrame({"member": who, "at": month + pd.to_timedelta(seconds, unit="s"),
                         "minutes": rng.lognormal(4.0, 0.4, size=len(who))})


def cohort_table(people, seen, month):
    data = seen.merge(people, on="member", how="left")
    data = data[data["joined"] < data["at"]]
    age = (data["at"] - data["joined"]).dt.days // 90
    table = data.assign(age=age).pivot_table(index="club", columns="age", values="minutes", aggfunc=["mean", "count"],
                                             observed=True)
    return table.to_numpy(float)


def habits(seen):
    """The hour at which most come, gaps between visits, share of members with a weekly rhythm."""
    ordered = seen.sort_values(["member", "at"])
    gaps = ordered.groupby("member")["at"].diff().dt.total_seconds() / 86400.0
    weekly = gaps.between(6.5, 7.5).groupby(ordered["member"]).mean()
    return [seen["at"].dt.hour.mode().iloc[0], gaps.median(), gaps.quantile(0.9), weekly.mean()]


def work(months):
    rng = np.random.default_rng(404)
    people, found = members(rng, 12_000), []
    for month in pd.date_range("2017-01-01", periods=months, freq="MS"):
        seen = visits(rng, month, people)
        table = cohort_table(people, seen, month)
        busy = seen.groupby(["member", seen["at"].dt.dayofweek])["minutes"].sum().unstack(fill_value=0.0)
        found.append([np.nansum(table), busy.to_numpy().std(), *habits(seen)])
        left = rng.random(len(people)) < 0.02
        fresh = members(rng, int(left.sum()))
        for column in ("joined", "fee"):
            people.loc[left, column] = fresh[column].to_numpy()
    return found


if __name__ == "__main__":
    harness.main(work, repeats=150)
