# SPDX-License-Identifier: Apache-2.0
"""Which answer is helpful? An embedding bag with a small network learns from pairs of answers; each batch is new."""

import torch
from torch import nn

import harness

WORDS, WIDTH, LENGTH = 2000, 48, 30


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.bag = nn.EmbeddingBag(WORDS, WIDTH, mode="mean")
        self.top = nn.Sequential(nn.Linear(WIDTH, 64), nn.ReLU(), nn.LayerNorm(64), nn.Linear(64, 1))

    def forward(self, texts):
        return self.top(self.bag(texts))[:, 0]


class Forum:
    """Answers whose words are more or less liked; users click on the better one, mostly."""

    def __init__(self, batch):
        self.liking = torch.randn(WORDS)
        self.frequency = 1.0 / torch.arange(1, WORDS + 1) ** 0.7
        self.batch = batch

    def answers(self):
        return torch.multinomial(self.frequency, self.batch * LENGTH, replacement=True).view(self.batch, LENGTH)

    def pairs(self):
        one, other = self.answers(), self.answers()
        better = self.liking[one].mean(dim=1) - self.liking[other].mean(dim=1)
        chosen = torch.rand(self.batch) < torch.sigmoid(6.0 * better)
        swap = chosen[:, None]
        return torch.where(swap, one, other), torch.where(swap, other, one)


def train(scorer, forum, steps):
    optimiser = torch.optim.AdamW(scorer.parameters(), lr=3e-3, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    total = torch.zeros(())
    for _ in range(steps):
        good, bad = forum.pairs()
        loss = nn.functional.softplus(scorer(bad) - scorer(good)).mean()
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(scorer.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        total += loss.detach()
    return total.item() / steps


@torch.no_grad()
def accuracy(scorer, forum):
    good, bad = forum.pairs()
    return (scorer(good) > scorer(bad)).float().mean().item()


def work(forums):
    torch.manual_seed(112)
    found = []
    for _ in range(forums):
        forum, scorer = Forum(128), Scorer()
        loss = train(scorer, forum, 120)
        found.append([round(loss, 2), round(accuracy(scorer, forum), 1)])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=20)
