# SPDX-License-Identifier: Apache-2.0
"""Waiting times in hospitals: the curve of their quantiles is asked for one quantile at a time."""

import numpy as np
import pandas as pd

import harness

# Series.quantile takes a list and orders the values once for all of it. One call each orders the same values anew, but
# for another quantile each time: the argument list is the feature that was missed, so API misuse.
CATEGORY = "API misuse"
KIND = "load"
STEPS = np.arange(0.02, 0.99, 0.02)
TRIAGE = {"red": 6.0, "orange": 21.0, "yellow": 48.0, "green": 95.0, "blue": 120.0}


class Hospital:
    def __init__(self, rng, name):
        self.rng, self.name = rng, name
        self.beds, self.strain = rng.integers(8, 40), rng.uniform(0.7, 1.5)

    def month(self, patients):
        """One row for each patient; those who left before they were seen have no time."""
        colour = self.rng.choice(list(TRIAGE), patients, p=[0.05, 0.15, 0.35, 0.35, 0.1])
        hour = self.rng.choice(24, patients, p=np.r_[np.full(8, 0.02), np.full(12, 0.06), np.full(4, 0.03)])
        crowd = 1.0 + 0.5 * np.sin((hour - 9.0) / 24.0 * 2.0 * np.pi)
        wait = self.rng.gamma(1.6, pd.Series(colour).map(TRIAGE).to_numpy() * crowd * self.strain / 1.6)
        frame = pd.DataFrame({"colour": colour, "hour": hour, "minutes": wait.round(1)})
        frame["hospital"] = self.name
        frame.loc[self.rng.random(patients) < wait / 4_000.0, "minutes"] = np.nan
        return frame


def curve(minutes):
    return np.array([minutes.quantile(step) for step in STEPS])  # waste: load


def curve_fixed(minutes):
    return minutes.quantile(STEPS).to_numpy()


def curves(frame, quantiles):
    return {key: quantiles(part) for key, part in frame.groupby(["hospital", "colour"])["minutes"]}


def distances(found):
    """Between the curves of each hospital and of all: how far a patient's wait is from the usual one."""
    usual = {colour: np.median([curve for (_, other), curve in found.items() if other == colour], axis=0) for colour in TRIAGE}
    far = pd.Series({key: np.abs(curve - usual[key[1]]).mean() / TRIAGE[key[1]] for key, curve in found.items()})
    return far.groupby(level=0).mean()


def breaches(frame):
    """The share of patients who waited longer than twice their colour's target."""
    late = frame["minutes"] > 2.0 * frame["colour"].map(TRIAGE)
    return late.groupby(frame["hospital"]).mean()


def work(months, quantiles):
    rng = np.random.default_rng(1997)
    hospitals = [Hospital(rng, name) for name in ("Aare", "Birs", "Doubs", "Emme", "Inn", "Reuss")]
    found = []
    for _ in range(months):
        frame = pd.concat([hospital.month(1_800) for hospital in hospitals], ignore_index=True)
        found.append([*distances(curves(frame, quantiles)), *breaches(frame)])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, curve), lambda n: work(n, curve_fixed), repeats=14)
