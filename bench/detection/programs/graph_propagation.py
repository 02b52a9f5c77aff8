# SPDX-License-Identifier: Apache-2.0
"""Messages between points that do not move; the weights of the graph's edges are made again for each round (as PieProf,
table 2, found in GGNN)."""

import torch

import harness

CATEGORY = "loop-invariant computation"
KIND = "store"
NODES, WIDTH, ROUNDS = 200, 16, 10


def propagate(places, states, mixing):
    for _ in range(ROUNDS):
        closeness = torch.exp(-torch.cdist(places, places) ** 2)  # waste: store
        edges = closeness / closeness.sum(dim=1, keepdim=True)  # waste: store
        states = torch.tanh(edges @ (states @ mixing))
    return states


def propagate_fixed(places, states, mixing):
    closeness = torch.exp(-torch.cdist(places, places) ** 2)
    edges = closeness / closeness.sum(dim=1, keepdim=True)
    for _ in range(ROUNDS):
        states = torch.tanh(edges @ (states @ mixing))
    return states


def work(repeats, send):
    torch.manual_seed(33)
    mixing = torch.randn(WIDTH, WIDTH) / WIDTH**0.5
    total = torch.zeros(WIDTH)
    with torch.no_grad():
        for _ in range(repeats):
            places, states = torch.randn(NODES, 3), torch.randn(NODES, WIDTH)
            total += send(places, states, mixing).abs().mean(dim=0)
    return (total / repeats).numpy()


if __name__ == "__main__":
    harness.main(lambda n: work(n, propagate), lambda n: work(n, propagate_fixed), repeats=4000)
