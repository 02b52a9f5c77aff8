# SPDX-License-Identifier: Apache-2.0
"""A small convolutional network, trained with PyTorch."""

import torch
from torch import nn

import harness


def work(repeats):
    torch.manual_seed(107)
    pictures = torch.randn(256, 3, 32, 32)
    labels = torch.randint(10, (256,))
    model = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(32 * 8 * 8, 10),
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    losses = []
    for _ in range(repeats):
        for start in range(0, len(pictures), 64):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(pictures[start : start + 64]), labels[start : start + 64])
            loss.backward()
            optimizer.step()
        losses.append(loss.item())
    return losses


if __name__ == "__main__":
    harness.main(work, repeats=69)
