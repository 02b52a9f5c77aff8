# SPDX-License-Identifier: Apache-2.0
"""A network of three layers, trained with PyTorch on batches of decent size."""

import torch
from torch import nn

import harness


def work(repeats):
    torch.manual_seed(106)
    samples = torch.randn(8192, 256)
    labels = (samples[:, :8].sum(dim=1) > 0).long()
    model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    losses = []
    for _ in range(repeats):
        for batch in torch.randperm(len(samples)).split(1024):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(samples[batch]), labels[batch])
            loss.backward()
            optimizer.step()
        losses.append(loss.item())
    return losses


if __name__ == "__main__":
    harness.main(work, repeats=33)
