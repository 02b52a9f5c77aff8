# SPDX-License-Identifier: Apache-2.0
"""Causal attention over texts of one length; the bias that grows with the distance is made anew in every layer."""

import torch
from torch import nn

import harness

CATEGORY = "loop-invariant computation"
KIND = "store"


def bias_of(length):
    places = torch.arange(length, dtype=torch.float32)
    distances = places[:, None] - places[None, :]  # waste: store
    return torch.where(distances >= 0.0, -0.1 * distances, torch.tensor(float("-inf")))  # waste: store


def attend(layer, x, bias):
    query, key, value = layer(x).chunk(3, dim=-1)
    scores = query @ key.T / query.shape[-1] ** 0.5 + bias
    return x + torch.softmax(scores, dim=-1) @ value


def read(layers, texts):
    found = []
    for text in texts:
        for layer in layers:
            text = attend(layer, text, bias_of(len(text)))
        found.append(text.mean(dim=0))
    return torch.stack(found)


def read_fixed(layers, texts):
    bias = bias_of(texts.shape[1])
    found = []
    for text in texts:
        for layer in layers:
            text = attend(layer, text, bias)
        found.append(text.mean(dim=0))
    return torch.stack(found)


def work(repeats, reader):
    torch.manual_seed(55)
    layers = [nn.Linear(16, 48) for _ in range(4)]
    total = torch.zeros(16)
    with torch.no_grad():
        for _ in range(repeats):
            total += reader(layers, torch.randn(8, 256, 16)).mean(dim=0)
    return total.numpy()


if __name__ == "__main__":
    harness.main(lambda n: work(n, read), lambda n: work(n, read_fixed), repeats=250)
