# SPDX-License-Identifier: Apache-2.0
"""What do whales do below? A hidden Markov model of dives is fitted by forward and backward passes."""

import numpy as np

import harness

STATES = 6


def dives(rng, length):
    """Depth and speed of each minute, in three habits."""
    habit, seen = 0, np.empty((length, 2))
    for t in range(length):
        if rng.random() < 0.04:
            habit = int(rng.integers(3))
        seen[t] = rng.normal([10 + 60 * habit, 3 - habit], [4 + 8 * habit, 0.4])
    return seen / [50.0, 1.0]


class Model:
    def __init__(self, rng):
        self.start = np.full(STATES, 1.0 / STATES)
        self.move = rng.dirichlet(np.ones(STATES), size=STATES) * 0.3 + 0.7 * np.eye(STATES)
        self.mean = rng.uniform([0.0, 0.0], [3.0, 3.5], size=(STATES, 2))
        self.var = np.full((STATES, 2), 0.5)

    def emissions(self, seen):
        off = (seen[:, None, :] - self.mean) ** 2 / self.var
        log = -0.5 * (off + np.log(2.0 * np.pi * self.var)).sum(axis=2)
        shift = log.max(axis=1, keepdims=True)
        return np.exp(log - shift), shift.sum()

    def forward(self, b):
        alpha, scale = np.empty_like(b), np.empty(len(b))
        row = self.start * b[0]
        for t in range(len(b)):
            if t:
                row = (row @ self.move) * b[t]
            scale[t] = row.sum()
            row = row / scale[t]
            alpha[t] = row
        return alpha, scale

    def backward(self, b, scale):
        beta = np.ones_like(b)
        for t in range(len(b) - 2, -1, -1):
            beta[t] = self.move @ (b[t + 1] * beta[t + 1]) / scale[t + 1]
        return beta

    def fit_once(self, seen, squares):
        """One round of expectation and maximisation; returns the log-likelihood before it."""
        b, shift = self.emissions(seen)
        alpha, scale = self.forward(b)
        beta = self.backward(b, scale)
        gamma = alpha * beta
        pairs = alpha[:-1].T @ (b[1:] * beta[1:] / scale[1:, None]) * self.move
        weight = gamma.sum(axis=0)
        self.start = gamma[0] / gamma[0].sum()
        self.move = pairs / pairs.sum(axis=1, keepdims=True)
        self.mean = gamma.T @ seen / weight[:, None]
        self.var = gamma.T @ squares / weight[:, None] - self.mean**2 + 1e-3
        return np.log(scale).sum() + shift


def work(whales):
    rng, found = np.random.default_rng(1851), []
    for _ in range(whales):
        model, seen = Model(rng), dives(rng, 1500)
        squares = seen**2
        likelihoods = [model.fit_once(seen, squares) for _ in range(20)]
        found.append([likelihoods[0], likelihoods[-1]])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=40)
