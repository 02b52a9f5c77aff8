# SPDX-License-Identifier: Apache-2.0
"""A small network judges its training data after each epoch, a sample at a time in place of a batch."""

import torch
from torch import nn

import harness

CATEGORY = "API misuse"
KIND = "load"


class Classifier(nn.Module):
    def __init__(self, features, kinds):
        super().__init__()
        self.first = nn.Linear(features, 32)
        self.second = nn.Linear(32, kinds)

    def forward(self, x):
        x = torch.relu(self.first(x))  # waste: load
        return self.second(x)  # waste: load


def accuracy(model, samples, labels):
    right = 0
    with torch.no_grad():
        for sample, label in zip(samples, labels):  # waste: load
            scores = model(sample)  # waste: load
            right += int(torch.argmax(scores) == label)  # waste: load
    return right / len(samples)


def accuracy_fixed(model, samples, labels):
    with torch.no_grad():
        return (model(samples).argmax(dim=1) == labels).sum().item() / len(samples)


def train(repeats, judge):
    torch.manual_seed(13)
    labels = torch.randint(5, (2000,))
    samples = torch.randn(2000, 16) + 0.6 * torch.randn(5, 16)[labels]
    model = Classifier(16, 5)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    history = []
    for _ in range(repeats):
        for batch in torch.randperm(2000).split(100):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(samples[batch]), labels[batch]).backward()
            optimizer.step()
        history.append(round(judge(model, samples, labels), 2))
    return history


if __name__ == "__main__":
    harness.main(lambda n: train(n, accuracy), lambda n: train(n, accuracy_fixed), repeats=160)
