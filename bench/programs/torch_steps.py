# SPDX-License-Identifier: Apache-2.0
"""torch: steps of a small network on one thread."""

import torch

from harness import run

torch.set_num_threads(1)
torch.manual_seed(1)
NET = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))
ROWS, KINDS = torch.randn(256, 64), torch.randint(0, 10, (256,))


def work(repeats):
    steps = torch.optim.SGD(NET.parameters(), lr=0.01)
    for _ in range(repeats):
        steps.zero_grad()
        loss = torch.nn.functional.cross_entropy(NET(ROWS), KINDS)
        loss.backward()
        steps.step()
    return loss.item()


run(work, 800)
