# SPDX-License-Identifier: Apache-2.0
"""Which skills do job adverts ask for? The column of texts is put into lower case again for each skill."""

import numpy as np
import pandas as pd

import harness

CATEGORY = "loop-invariant computation"
KIND = "store"
skills = ["Python", "SQL", "Excel", "Java", "Docker", "R", "SAP", "Tableau", "Kubernetes", "Linux", "Scala", "Git", "Spark"]
fillers = ("We are looking for a motivated colleague with experience in and knowledge of the following team player "
           "flexible hours Competitive salary Modern office in the heart of Berlin remote work possible").split()
towns = ["Berlin", "Leipzig", "Hamburg", "Köln", "Remote"]


def adverts(rng, n):
    """A frame as it comes from the scraper."""
    texts = []
    for _ in range(n):
        words = list(rng.choice(fillers, size=rng.integers(40, 160)))
        for skill in rng.choice(skills, size=rng.integers(1, 6), replace=False):
            words.insert(int(rng.integers(len(words))), skill.upper() if rng.random() < 0.3 else skill)
        texts.append(" ".join(words))
    return pd.DataFrame({"text": texts, "town": rng.choice(towns, size=n), "pay": rng.normal(58000, 9000, size=n).round()})


def count_skills(df):
    counts = {}
    for skill in skills:
        mask = df["text"].str.lower().str.contains(f" {skill.lower()} ", regex=False)  # waste: store
        counts[skill] = (mask.sum(), df.loc[mask, "pay"].median())
    return pd.DataFrame.from_dict(counts, orient="index", columns=["adverts", "pay"])


def count_skills_fixed(df):
    counts = {}
    lower = df["text"].str.lower()
    for skill in skills:
        mask = lower.str.contains(f" {skill.lower()} ", regex=False)
        counts[skill] = (mask.sum(), df.loc[mask, "pay"].median())
    return pd.DataFrame.from_dict(counts, orient="index", columns=["adverts", "pay"])


def work(weeks, count):
    rng = np.random.default_rng(77)
    base = adverts(rng, 4000)
    results = []
    for _ in range(weeks):
        df = base.sample(frac=0.8, random_state=int(rng.integers(2**31)))
        table = count(df)
        by_town = df.groupby("town")["pay"].agg(["mean", "std", "count"])
        results.append(np.concatenate([table.to_numpy(float).ravel(), by_town.to_numpy(float).ravel()]))
    return np.array(results)


if __name__ == "__main__":
    harness.main(lambda n: work(n, count_skills), lambda n: work(n, count_skills_fixed), repeats=130)
