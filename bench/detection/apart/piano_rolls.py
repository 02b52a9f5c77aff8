# SPDX-License-Identifier: Apache-2.0
"""Piano rolls: notes of pieces are written in a tensor of keys by time, from which features are learnt."""

import torch
from torch import nn

import harness

# A note fills a stretch of its key's row, which is one assignment to a slice: slice underutilization.
CATEGORY = "slice underutilization"
KIND = "store"
KEYS, TICKS = 88, 384
SCALE = (0, 2, 4, 5, 7, 9, 11)


def notes(source, count):
    """Key, start, length and loudness: a walk along a scale."""
    steps = torch.randint(-2, 3, (count,), generator=source).cumsum(0) + 21
    degrees = steps.clamp(0, 48)
    keys = (degrees // 7) * 12 + torch.tensor(SCALE)[degrees % 7]
    starts = torch.randint(0, 5, (count,), generator=source).cumsum(0) % (TICKS - 40)
    lengths = torch.randint(3, 28, (count,), generator=source)
    loudness = torch.rand(count, generator=source) * 0.7 + 0.3
    return list(zip(keys.tolist(), starts.tolist(), lengths.tolist(), loudness.tolist()))


def roll(piece):
    table = torch.zeros(KEYS, TICKS)
    for key, start, length, loudness in piece:
        for tick in range(start, start + length):
            table[key, tick] = loudness  # waste: store
    return table


def roll_fixed(piece):
    table = torch.zeros(KEYS, TICKS)
    for key, start, length, loudness in piece:
        table[key, start:start + length] = loudness
    return table


class Listener(nn.Module):
    """Says how dense and how high a piece is, from convolutions over time."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv1d(KEYS, 24, 9, stride=4, padding=4)
        self.second = nn.Conv1d(24, 32, 5, stride=4, padding=2)
        self.out = nn.Linear(32, 3)

    def forward(self, rolls):
        hidden = torch.relu(self.first(rolls))
        hidden = torch.relu(self.second(hidden)).mean(dim=2)
        return self.out(hidden)


def targets(pieces):
    """Number of notes, mean key and mean length, scaled."""
    rows = []
    for piece in pieces:
        keys = [key for key, *_ in piece]
        lengths = [length for _, _, length, _ in piece]
        rows.append([len(piece) / 100, sum(keys) / len(keys) / KEYS, sum(lengths) / len(lengths) / 28])
    return torch.tensor(rows)


def overlaps(table):
    """How often a number of keys sounds at once."""
    sounding = (table > 0).sum(dim=0)
    return torch.bincount(sounding.clamp(max=5), minlength=6)


def batch(source, rolling, size=8):
    counts = torch.randint(40, 110, (size,), generator=source).tolist()
    pieces = [notes(source, count) for count in counts]
    return torch.stack([rolling(piece) for piece in pieces]), targets(pieces)


def work(batches, rolling):
    torch.set_num_threads(1)
    torch.manual_seed(7201)
    source = torch.Generator().manual_seed(7201)
    model = Listener()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    rows = []
    for _ in range(batches):
        rolls, wanted = batch(source, rolling)
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(rolls), wanted)
        loss.backward()
        optimizer.step()
        chords = sum(overlaps(table) for table in rolls)
        rows.append([round(loss.item(), 5), round(rolls.sum().item(), 2), *chords.tolist()])
    return rows


if __name__ == "__main__":
    harness.main(lambda n: work(n, roll), lambda n: work(n, roll_fixed), repeats=190)
