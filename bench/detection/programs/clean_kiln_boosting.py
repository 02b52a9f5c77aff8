# SPDX-License-Identifier: Apache-2.0
"""Will the tiles crack? Boosted trees learn each week's firings and are tried on the next week's."""

import numpy as np
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.metrics import log_loss, roc_auc_score

import harness


class Kiln:
    """Ages from week to week, so that old firings do not tell the new ones."""

    def __init__(self, rng):
        self.rng = rng
        self.wear = rng.normal(size=6)

    def week(self, firings=700):
        """Measurements of each firing, and which ones cracked."""
        measured = self.rng.normal(size=(firings, 6))
        heat, humidity, rise, hold, weight, glaze = measured.T
        stress = measured @ (0.3 * self.wear) + heat * humidity - np.abs(rise) + 0.5 * np.maximum(hold, weight) * glaze
        self.wear += self.rng.normal(scale=0.2, size=6)
        return measured, stress + self.rng.normal(scale=0.4, size=firings) > 0.2


def learn(measured, cracked):
    model = GradientBoostingClassifier(n_estimators=60, max_depth=3, learning_rate=0.15, subsample=0.8, random_state=7)
    return model.fit(measured, cracked)


def work(repeats):
    kiln = Kiln(np.random.default_rng(1240))
    measured, cracked = kiln.week()
    found = []
    for _ in range(repeats):
        model = learn(measured, cracked)
        measured, cracked = kiln.week()
        chance = model.predict_proba(measured)[:, 1]
        found.append([roc_auc_score(cracked, chance), log_loss(cracked, chance)])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=55)
