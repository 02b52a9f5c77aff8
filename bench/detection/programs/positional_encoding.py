# SPDX-License-Identifier: Apache-2.0
"""A small model of sequences whose forward() makes the sinusoidal encoding of the positions at every call."""

import functools
import math

import torch
from torch import nn

import harness

CATEGORY = "repeated native calls"
KIND = "store"


def encoding(length, width):
    places = torch.arange(length, dtype=torch.float32).unsqueeze(1)  # waste: store
    steps = torch.arange(0, width, 2, dtype=torch.float32)  # waste: store
    rates = torch.exp(steps * (-math.log(10000.0) / width))  # waste: store
    angles = places * rates  # waste: store
    return torch.cat([torch.sin(angles), torch.cos(angles)], dim=1)  # waste: store


class Encoder(nn.Module):
    def __init__(self, words, width, encode):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.mix = nn.Linear(width, 32)
        self.head = nn.Linear(32, 2)
        self.encode = encode

    def forward(self, words):
        x = self.embedding(words)
        x = x + self.encode(x.shape[1], x.shape[2])
        return self.head(torch.relu(self.mix(x)).mean(dim=1))


def classify(repeats, encode):
    torch.manual_seed(17)
    model = Encoder(1000, 64, encode)
    total = torch.zeros(2)
    with torch.no_grad():
        for _ in range(repeats):
            words = torch.randint(1000, (1, 256))
            total += torch.softmax(model(words), dim=1)[0]
    return (total / repeats).numpy()


if __name__ == "__main__":
    cached = functools.lru_cache(maxsize=8)(encoding)
    harness.main(lambda n: classify(n, encoding), lambda n: classify(n, cached), repeats=78000)
