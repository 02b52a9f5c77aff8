# SPDX-License-Identifier: Apache-2.0
"""Pumps of a waterworks: an autoencoder learns their healthy vibrations and marks those that it cannot draw again."""

import numpy as np
import torch
from torch import nn

import harness

WINDOW, BATCH = 128, 256
HEALTHY, MIXED = 6144, 2048


def vibrations(generator, count, broken):
    """Spectra of short windows; a bad bearing rings at a high frequency now and then."""
    time = torch.arange(2 * WINDOW) / 4000
    speed = 24 + 2 * torch.rand(count, 1, generator=generator)
    wave = torch.zeros(count, 2 * WINDOW)
    for order, size in ((1, 1.0), (2, 0.5), (7, 0.7)):
        phase = 6.28 * torch.rand(count, 1, generator=generator)
        wave += size * torch.sin(6.2832 * order * speed * time + phase)
    ring = torch.sin(6.2832 * 1310 * time) * torch.exp(-((time * 137) % 1) * 6)
    wave += broken[:, None] * 1.2 * ring
    wave += 0.4 * torch.randn(count, 2 * WINDOW, generator=generator)
    return torch.log1p(torch.fft.rfft(wave).abs()[:, 1:])


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(nn.Linear(WINDOW, 96), nn.GELU(), nn.Linear(96, 10))
        self.up = nn.Sequential(nn.Linear(10, 96), nn.GELU(), nn.Linear(96, WINDOW))

    def forward(self, spectra):
        return self.up(self.down(spectra))


def epoch(net, optimiser, spectra, order):
    total = torch.zeros(())
    for batch in spectra[order].split(BATCH):
        loss = nn.functional.mse_loss(net(batch), batch)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
        total += loss.detach()
    return float(total)


@torch.no_grad()
def scores(net, spectra):
    return (net(spectra) - spectra).square().mean(dim=1)


def ranked_right(marks, broken):
    """Chance that a broken pump has the higher mark of two."""
    order = marks.argsort().argsort().double() + 1
    count = broken.sum().double()
    return float((order[broken > 0].sum() - count * (count + 1) / 2) / (count * (len(broken) - count)))


def work(epochs):
    torch.set_num_threads(1)
    torch.manual_seed(633)
    generator = torch.Generator().manual_seed(633)
    healthy = vibrations(generator, HEALTHY, torch.zeros(HEALTHY))
    broken = (torch.rand(MIXED, generator=generator) < 0.2).float()
    mixed = vibrations(generator, MIXED, broken)
    mean, deviation = healthy.mean(dim=0), healthy.std(dim=0)
    healthy, mixed = (healthy - mean) / deviation, (mixed - mean) / deviation
    net = Autoencoder()
    optimiser = torch.optim.SGD(net.parameters(), 0.05, momentum=0.9)
    losses = [epoch(net, optimiser, healthy, torch.randperm(HEALTHY, generator=generator)) for _ in range(epochs)]
    return np.round([losses[0], losses[-1], ranked_right(scores(net, mixed), broken)], 4)


if __name__ == "__main__":
    harness.main(work, repeats=150)
