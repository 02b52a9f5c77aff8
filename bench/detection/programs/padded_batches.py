# SPDX-License-Identifier: Apache-2.0
"""Comments of different lengths become padded batches for a small network; a batch is filled token by token."""

import random

import torch

import harness

CATEGORY = "slice underutilization"
KIND = "store"
WORDS, WIDTH, ROWS = 5000, 48, 64


def comments(random_source):
    """Token numbers; short comments are the usual ones."""
    lengths = [min(80, 3 + int(random_source.expovariate(1 / 20))) for _ in range(ROWS)]
    return [random_source.choices(range(1, WORDS), k=length) for length in lengths]


def padded(rows):
    batch = torch.zeros(len(rows), max(map(len, rows)), dtype=torch.long)
    for i, row in enumerate(rows):
        for j, token in enumerate(row):
            batch[i, j] = token  # waste: store
    return batch


def padded_fixed(rows):
    batch = torch.zeros(len(rows), max(map(len, rows)), dtype=torch.long)
    for i, row in enumerate(rows):
        batch[i, : len(row)] = torch.tensor(row)
    return batch


class Mood(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(WORDS, WIDTH, padding_idx=0)
        self.hidden = torch.nn.Linear(WIDTH, 2 * WIDTH)
        self.out = torch.nn.Linear(2 * WIDTH, 3)

    def forward(self, batch):
        lengths = (batch != 0).sum(dim=1, keepdim=True)
        means = self.embedding(batch).sum(dim=1) / lengths
        return self.out(torch.tanh(self.hidden(means)))


def work(repeats, make):
    torch.manual_seed(704)
    random_source = random.Random(704)
    model = Mood().eval()
    found = []
    with torch.no_grad():
        for _ in range(repeats):
            scores = model(make(comments(random_source)))
            found.append([*scores.mean(dim=0).tolist(), float((scores.argmax(dim=1) == 1).sum())])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, padded), lambda n: work(n, padded_fixed), repeats=1100)
