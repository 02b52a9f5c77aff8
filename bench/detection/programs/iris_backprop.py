# SPDX-License-Identifier: Apache-2.0
"""Back-propagation on flowers of three kinds; the weights are updated one by one (PieProf, listing 1: IrisData)."""

import numpy as np

import harness

CATEGORY = "slice underutilization"
KIND = "load"


def flowers(rng, count):
    """Four measurements of each flower and its kind, one-hot."""
    kinds = rng.integers(3, size=count)
    centres = np.array([[5.0, 3.4, 1.5, 0.2], [5.9, 2.8, 4.3, 1.3], [6.6, 3.0, 5.6, 2.0]])
    return centres[kinds] + rng.normal(scale=0.3, size=(count, 4)), np.eye(3)[kinds]


class Network:
    def __init__(self, rng, hidden):
        self.inputs, self.hidden, self.outputs = 4, hidden, 3
        self.ih_weights = rng.normal(scale=0.1, size=(self.inputs, self.hidden))
        self.ho_weights = rng.normal(scale=0.1, size=(self.hidden, self.outputs))

    def gradients(self, sample, target):
        nodes = np.tanh(sample @ self.ih_weights)
        scores = np.exp(nodes @ self.ho_weights)
        signal = scores / scores.sum() - target
        hidden_signal = (self.ho_weights @ signal) * (1.0 - nodes * nodes)
        return np.outer(sample, hidden_signal), np.outer(nodes, signal)

    def update(self, ih_grads, ho_grads, rate):
        for i in range(self.inputs):
            for j in range(self.hidden):
                delta = -1.0 * rate * ih_grads[i, j]  # waste: load
                self.ih_weights[i, j] += delta  # waste: load
        for j in range(self.hidden):
            for k in range(self.outputs):
                delta = -1.0 * rate * ho_grads[j, k]  # waste: load
                self.ho_weights[j, k] += delta  # waste: load

    def update_fixed(self, ih_grads, ho_grads, rate):
        self.ih_weights += -1.0 * rate * ih_grads
        self.ho_weights += -1.0 * rate * ho_grads


def train(repeats, update):
    rng = np.random.default_rng(1)
    samples, targets = flowers(rng, 120)
    network = Network(rng, hidden=16)
    for _ in range(repeats):
        for i in rng.permutation(len(samples)):
            update(network, *network.gradients(samples[i], targets[i]), 0.01)
    return np.concatenate([network.ih_weights.ravel(), network.ho_weights.ravel()])


if __name__ == "__main__":
    harness.main(lambda n: train(n, Network.update), lambda n: train(n, Network.update_fixed), repeats=1600)
