# SPDX-License-Identifier: Apache-2.0
"""The path of a drone from noisy positions: a Kalman filter, whose steps need the state before."""

import numpy as np

import harness

STEP = 0.1
MOTION = np.eye(6)
MOTION[:3, 3:] = STEP * np.eye(3)
NOISE = np.diag([0.4, 0.4, 0.9])


def flight(rng, steps):
    """True states and measured positions, with gusts and lost measurements (None)."""
    state = np.array([0.0, 0.0, 10.0, 1.0, 0.5, 0.0])
    for _ in range(steps):
        state = MOTION @ state
        state[3:] += rng.normal(scale=0.15, size=3)
        measured = state[:3] + rng.normal(size=3) * [0.6, 0.6, 0.9]
        yield state, measured if rng.random() > 0.1 else None


class Filter:
    def __init__(self):
        self.state = np.zeros(6)
        self.spread = 100.0 * np.eye(6)
        self.gusts = 0.02 * np.eye(6)

    def predict(self):
        self.state = MOTION @ self.state
        self.spread = MOTION @ self.spread @ MOTION.T + self.gusts

    def correct(self, measured):
        cross = self.spread[:, :3]
        gain = np.linalg.solve(cross[:3] + NOISE, cross.T).T
        surprise = measured - self.state[:3]
        self.state = self.state + gain @ surprise
        self.spread = self.spread - gain @ cross.T
        self.gusts = 0.98 * self.gusts + 0.0004 * np.diag(np.concatenate([surprise, surprise]) ** 2)


def work(repeats):
    rng = np.random.default_rng(41)
    found = []
    for _ in range(repeats):
        tracker, errors = Filter(), []
        for state, measured in flight(rng, 500):
            tracker.predict()
            if measured is not None:
                tracker.correct(measured)
            errors.append(np.linalg.norm(tracker.state - state))
        found.append([np.mean(errors[100:]), errors[-1]])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=180)
