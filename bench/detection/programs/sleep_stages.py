# SPDX-License-Identifier: Apache-2.0
"""Trains a classifier of sleep stages; each batch of recordings becomes a tensor from a list of NumPy arrays."""

import warnings

import numpy as np
import torch
from torch import nn

import harness

CATEGORY = "API misuse"
KIND = "load"
SAMPLES, BATCH = 1500, 32


class Recordings:
    """One night in pieces of 15 seconds, as a reader of EEG files returns them."""

    def __init__(self, seed, count):
        rng = np.random.default_rng(seed)
        self.stages = rng.integers(4, size=count)
        time = np.arange(SAMPLES) / 100.0
        self.pieces = [
            (np.sin(time * (2.0 + 5.0 * stage)) + rng.normal(scale=0.5, size=SAMPLES)).astype(np.float32)
            for stage in self.stages
        ]

    def batches(self, rng):
        order = rng.permutation(len(self.pieces))
        for start in range(0, len(order), BATCH):
            chosen = order[start : start + BATCH]
            yield [self.pieces[k] for k in chosen], self.stages[chosen]


def to_tensor(pieces):
    return torch.tensor(pieces)  # waste: load


def to_tensor_fixed(pieces):
    return torch.from_numpy(np.stack(pieces))


def work(repeats, convert):
    torch.manual_seed(3)
    rng = np.random.default_rng(4)
    night = Recordings(5, 640)
    model = nn.Sequential(nn.AvgPool1d(10), nn.Linear(SAMPLES // 10, 24), nn.ReLU(), nn.Linear(24, 4))
    optimiser = torch.optim.SGD(model.parameters(), lr=0.02)
    losses = []
    for _ in range(repeats):
        for pieces, stages in night.batches(rng):
            loss = nn.functional.cross_entropy(model(convert(pieces)), torch.from_numpy(stages))
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        losses.append(loss.item())
    return losses


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    harness.main(lambda n: work(n, to_tensor), lambda n: work(n, to_tensor_fixed), repeats=30)
