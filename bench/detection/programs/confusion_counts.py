# SPDX-License-Identifier: Apache-2.0
"""Which kinds of goods a classifier confuses: a matrix of tensors, in which each answer is counted by itself."""

import torch
from torch import nn

import harness

CATEGORY = "slice underutilization"
KIND = "load"
KINDS = 6


def confusion(truth, answers):
    matrix = torch.zeros(KINDS, KINDS, dtype=torch.int64)
    for i in range(len(truth)):
        matrix[truth[i], answers[i]] += 1  # waste: load
    return matrix


def confusion_fixed(truth, answers):
    return torch.bincount(truth * KINDS + answers, minlength=KINDS * KINDS).view(KINDS, KINDS)


def goods(centres, count):
    truth = torch.randint(KINDS, (count,))
    return centres[truth] + 1.5 * torch.randn(count, centres.shape[1]), truth


def work(repeats, count):
    torch.manual_seed(61)
    centres = torch.randn(KINDS, 20)
    model = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, KINDS))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    history = []
    for _ in range(repeats):
        samples, truth = goods(centres, 200)
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(samples), truth).backward()
        optimizer.step()
        tests, truth = goods(centres, 2000)
        with torch.no_grad():
            matrix = count(truth, model(tests).argmax(dim=1))
        history.append([matrix.diagonal().sum().item(), matrix[0, 1].item(), matrix[2].sum().item()])
    return history


if __name__ == "__main__":
    harness.main(lambda n: work(n, confusion), lambda n: work(n, confusion_fixed), repeats=260)
