# SPDX-License-Identifier: Apache-2.0
"""Is the mean of a sequence high or low? A recurrent network of PyTorch learns it from batches that are always new."""

import torch
from torch import nn

import harness

LENGTH, BATCH = 40, 128


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(16, 24)
        self.gru = nn.GRU(24, 64, batch_first=True)
        self.head = nn.Linear(64, 2)

    def forward(self, tokens):
        _, last = self.gru(self.embedding(tokens))
        return self.head(last[0])


def batch():
    tokens = torch.randint(16, (BATCH, LENGTH))
    return tokens, (tokens.float().mean(dim=1) > 7.5).long()


def work(repeats):
    torch.manual_seed(309)
    model = Reader()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    losses = []
    for _ in range(repeats):
        tokens, labels = batch()
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(tokens), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


if __name__ == "__main__":
    harness.main(work, repeats=180)
