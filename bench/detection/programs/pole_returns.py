# SPDX-License-Identifier: Apache-2.0
"""Balancing poles with an actor and a critic; advantages of the steps are worked out backwards on single elements."""

import torch
import torch.nn.functional as F
from torch import nn

import harness

CATEGORY = "slice underutilization"
KIND = "load"
GAMMA, LAMBDA = 0.99, 0.95


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 32), nn.Tanh())
        self.actor, self.critic = nn.Linear(32, 2), nn.Linear(32, 1)

    def forward(self, x):
        h = self.body(x)
        return self.actor(h), self.critic(h).squeeze(-1)


def poles(state, action):
    """One step for many poles at once."""
    x, v, a, w = state.unbind(-1)
    force = 10.0 * (2.0 * action - 1.0)
    push = (force + 0.05 * w**2 * torch.sin(a)) / 1.1
    acc = (9.8 * torch.sin(a) - torch.cos(a) * push) / (0.5 * (4.0 / 3.0 - 0.1 * torch.cos(a) ** 2 / 1.1))
    new = torch.stack([x + 0.02 * v, v + 0.02 * push, a + 0.02 * w, w + 0.02 * acc], dim=-1)
    return new, (new[:, 2].abs() > 0.21) | (new[:, 0].abs() > 2.4)


def rollout(model, generator, steps, n):
    state, log = 0.05 * torch.randn(n, 4, generator=generator), []
    for _ in range(steps):
        with torch.no_grad():
            logits, value = model(state)
            action = (torch.rand(n, generator=generator) < torch.softmax(logits, -1)[:, 1]).float()
        new, done = poles(state, action)
        log.append((state, action, value, done.float(), 1.0 - done.float()))
        state = torch.where(done[:, None], 0.05 * torch.randn(n, 4, generator=generator), new)
    with torch.no_grad():
        last = model(state)[1]
    return [torch.stack(part) for part in zip(*log)], last


def advantages(rewards, values, dones, last):
    T, n = rewards.shape
    out = torch.zeros(T, n)
    for i in range(n):
        gae, following = 0.0, last[i]
        for t in reversed(range(T)):
            alive = 1.0 - dones[t, i]  # waste: load
            delta = rewards[t, i] + GAMMA * following * alive - values[t, i]  # waste: load
            gae = delta + GAMMA * LAMBDA * alive * gae  # waste: load
            out[t, i] = gae  # waste: load
            following = values[t, i]  # waste: load
    return out


def advantages_fixed(rewards, values, dones, last):
    T, n = rewards.shape
    out, gae, following = torch.zeros(T, n), torch.zeros(n), last
    for t in reversed(range(T)):
        alive = 1.0 - dones[t]
        delta = rewards[t] + GAMMA * following * alive - values[t]
        gae = delta + GAMMA * LAMBDA * alive * gae
        out[t] = gae
        following = values[t]
    return out


def update(model, optimiser, data, advantage):
    state, action, value = data[0].flatten(0, 1), data[1].flatten().long(), data[2].flatten()
    advantage = advantage.flatten()
    for rows in torch.arange(len(action)).split(256):
        logits, new = model(state[rows])
        policy = (F.cross_entropy(logits, action[rows], reduction="none") * advantage[rows]).mean()
        loss = policy + 0.5 * F.mse_loss(new, advantage[rows] + value[rows])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return loss.item()


def work(rounds, estimate):
    found = []
    generator = torch.Generator().manual_seed(11)
    for number in range(rounds):
        if number % 3 == 0:
            torch.manual_seed(number)
            model = ActorCritic()
            optimiser = torch.optim.SGD(model.parameters(), lr=1e-3)
        data, last = rollout(model, generator, 100, 16)
        advantage = estimate(data[4], data[2], data[3], last)
        found.append([advantage.mean().item(), advantage.std().item(), update(model, optimiser, data, advantage)])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, advantages), lambda n: work(n, advantages_fixed), repeats=170)
