# SPDX-License-Identifier: Apache-2.0
"""Early stopping of small trainings: at each step, the smoothed loss is worked out from the whole history."""

import numpy as np
import pandas as pd

import harness

CATEGORY = "inefficient algorithm"
KIND = "load"
SPAN, PATIENCE, MOST = 60, 250, 4_000


class Stopper:
    """Called with each loss; says whether the smoothed loss no longer falls."""

    def __init__(self):
        self.losses = []
        self.best, self.best_step = np.inf, 0

    def smoothed(self, loss):
        self.losses.append(loss)
        return pd.Series(self.losses).ewm(span=SPAN).mean().iloc[-1]  # waste: load

    def __call__(self, step, loss):
        now = self.smoothed(loss)  # waste: load
        if now < self.best - 1e-5:
            self.best, self.best_step = now, step
        return step - self.best_step >= PATIENCE


class StopperFixed(Stopper):
    def __init__(self):
        super().__init__()
        self.total = self.weight = 0.0

    def smoothed(self, loss):
        decay = 1.0 - 2.0 / (SPAN + 1)
        self.total = self.total * decay + loss
        self.weight = self.weight * decay + 1.0
        return self.total / self.weight


def train(rng, on_step):
    """Logistic regression by single batches; the step at which it was stopped, and its weights."""
    true = rng.normal(size=12)
    weights = np.zeros(12)
    for step in range(MOST):
        inputs = rng.normal(size=(64, 12))
        labels = inputs @ true + rng.normal(size=64) > 0.0
        guess = 1.0 / (1.0 + np.exp(-(inputs @ weights)))
        weights += 0.03 * (labels - guess) @ inputs / 64
        loss = -np.log(np.where(labels, guess, 1.0 - guess) + 1e-9).mean()
        if on_step(step, loss):
            break
    return step, weights


def work(repeats, stopper):
    rng = np.random.default_rng(2015)
    found = []
    for _ in range(repeats):
        step, weights = train(rng, stopper())
        found.append([step, np.abs(weights).sum()])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, Stopper), lambda n: work(n, StopperFixed), repeats=5)
