# SPDX-License-Identifier: Apache-2.0
"""Grades of wines from 32 measurements: a small network, trained with Adam on small batches, and evaluated after each
epoch. Each step works on other data, and most of its time goes to the library's own Python code and short kernels."""

import torch
from torch import nn

import harness

GRADES = 4


def data():
    measured = torch.randn(4096, 32)
    return measured, (measured[:, :GRADES] @ torch.randn(GRADES, GRADES)).argmax(dim=1)


def train_epoch(model, wines, optimizer, criterion):
    model.train()
    total = 0.0
    for batch in torch.randperm(len(wines[0])).split(64):
        measured, grades = (column[batch] for column in wines)
        optimizer.zero_grad()
        loss = criterion(model(measured), grades)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(grades)
    return total


@torch.no_grad()
def right_of(model, wines):
    model.eval()
    measured, grades = wines
    return (model(measured).argmax(dim=1) == grades).sum().item()


def work(repeats):
    torch.manual_seed(107)
    measured, grades = data()
    train, test = (measured[:3072], grades[:3072]), (measured[3072:], grades[3072:])
    model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, GRADES))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    results = []
    for _ in range(repeats):
        results.append((round(train_epoch(model, train, optimizer, nn.CrossEntropyLoss()), 6), right_of(model, test)))
    return results


if __name__ == "__main__":
    harness.main(work, repeats=240)
