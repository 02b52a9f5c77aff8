# SPDX-License-Identifier: Apache-2.0
"""Trains an autoencoder of leaf outlines with Adam; each batch is cut out of one tensor, with new noise."""

import torch
from torch import nn

import harness

POINTS, BATCH = 128, 128


def leaves(generator, count):
    """Radius of each outline by angle."""
    angle = torch.arange(POINTS) * (6.2832 / POINTS)
    lobes = torch.randint(3, 8, (count, 1), generator=generator)
    depth = torch.rand(count, 1, generator=generator) * 0.4
    teeth = torch.rand(count, 1, generator=generator) * 0.05
    return 1.0 + depth * torch.cos(lobes * angle) + teeth * torch.cos(31 * angle) - 0.2 * torch.sin(angle)


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(POINTS, 64), nn.ELU(), nn.Linear(64, 6))
        self.decode = nn.Sequential(nn.Linear(6, 64), nn.ELU(), nn.Linear(64, POINTS))

    def forward(self, outlines):
        return self.decode(self.encode(outlines))


def epoch(model, optimiser, outlines, generator):
    losses = []
    for chosen in torch.randperm(len(outlines), generator=generator).split(BATCH):
        batch = outlines[chosen]
        noisy = batch + 0.05 * torch.randn(batch.shape, generator=generator)
        loss = nn.functional.mse_loss(model(noisy), batch)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
        losses.append(loss.detach())
    return torch.stack(losses).mean()


def work(repeats):
    torch.manual_seed(1)
    generator = torch.Generator().manual_seed(2)
    outlines = leaves(generator, 4096)
    model = Autoencoder()
    optimiser = torch.optim.Adam(model.parameters(), lr=2e-3)
    losses = [epoch(model, optimiser, outlines, generator) for _ in range(repeats)]
    return torch.stack(losses).numpy()


if __name__ == "__main__":
    harness.main(work, repeats=60)
