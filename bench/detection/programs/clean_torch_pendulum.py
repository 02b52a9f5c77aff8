# SPDX-License-Identifier: Apache-2.0
"""A policy learns to swing up pendulums: batches of rollouts in torch, gradients through the simulation."""

import math

import torch
from torch import nn

import harness


class Policy(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(3, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, 1))

    def forward(self, cos, sin, speed):
        seen = torch.stack([cos, sin, speed / 8.0], dim=-1)
        return 2.0 * torch.tanh(self.layers(seen)).squeeze(-1)


class Pendulums:
    """A batch of them, with masses of their own."""

    def __init__(self, generator, n):
        self.angle = math.pi + 0.5 * torch.randn(n, generator=generator)
        self.speed = torch.randn(n, generator=generator)
        self.mass = 0.8 + 0.4 * torch.rand(n, generator=generator)

        self.cos, self.sin = torch.cos(self.angle), torch.sin(self.angle)

    def step(self, torque, dt=0.05):
        push = 15.0 * self.sin + 3.0 * torque / self.mass
        self.speed = torch.clamp(self.speed + dt * push, -8.0, 8.0)
        self.angle = self.angle + dt * self.speed
        self.cos, self.sin = torch.cos(self.angle), torch.sin(self.angle)

    def cost(self, torque):
        off = torch.atan2(self.sin, self.cos)
        return (off**2 + 0.1 * self.speed**2 + 0.001 * torque**2).mean()


def episode(policy, generator, n=128, steps=60):
    world, total = Pendulums(generator, n), torch.zeros(())
    for _ in range(steps):
        torque = policy(world.cos, world.sin, world.speed)
        world.step(torque)
        total = total + world.cost(torque)
    return total / steps


def work(epochs):
    torch.manual_seed(5)
    generator = torch.Generator().manual_seed(6)
    policy, costs = Policy(), []
    optimiser = torch.optim.Adam(policy.parameters(), lr=3e-3)
    for _ in range(epochs):
        optimiser.zero_grad()
        cost = episode(policy, generator)
        cost.backward()
        nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        optimiser.step()
        costs.append(cost.item())
    # Rounding decides late steps of the training, so only its beginning is compared.
    return costs[:5] + [len(costs)]


if __name__ == "__main__":
    harness.main(work, repeats=130)
