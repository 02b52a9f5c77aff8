# SPDX-License-Identifier: Apache-2.0
"""Generates text with a small network whose weights carry a low-rank adapter; each token merges the adapter again."""

import torch
from torch import nn

import harness

CATEGORY = "loop-invariant computation"
KIND = "store"
WIDTH, RANK, TOKENS = 192, 16, 64


class Adapted(nn.Module):
    def __init__(self, rank):
        super().__init__()
        self.base = nn.Parameter(torch.randn(WIDTH, WIDTH) / WIDTH**0.5)
        self.up = nn.Parameter(torch.randn(WIDTH, rank) / WIDTH**0.5)
        self.down = nn.Parameter(torch.randn(rank, WIDTH) / WIDTH**0.5)

    def weight(self):
        return self.base + 0.5 * (self.up @ self.down)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.letters = nn.Embedding(TOKENS, WIDTH)
        self.layers = nn.ModuleList(Adapted(RANK) for _ in range(4))
        self.out = nn.Linear(WIDTH, TOKENS)

    def weights(self):
        return [layer.weight() for layer in self.layers]

    def step(self, token, state, weights):
        hidden = self.letters(token) + 0.9 * state
        for weight in weights:
            hidden = hidden + torch.tanh(nn.functional.linear(hidden, weight))
        state = nn.functional.layer_norm(hidden, (WIDTH,))
        return self.out(state), state


def generate(model, token, length):
    state, tokens = torch.zeros(1, WIDTH), []
    for _ in range(length):
        logits, state = model.step(token, state, model.weights())  # waste: store
        token = logits.argmax(dim=1)
        tokens.append(token)
    return torch.cat(tokens)


def generate_fixed(model, token, length):
    state, tokens, weights = torch.zeros(1, WIDTH), [], model.weights()
    for _ in range(length):
        logits, state = model.step(token, state, weights)
        token = logits.argmax(dim=1)
        tokens.append(token)
    return torch.cat(tokens)


def work(repeats, write):
    torch.manual_seed(20)
    model = Generator().eval()
    found = []
    with torch.no_grad():
        for k in range(repeats):
            tokens = write(model, torch.tensor([k % TOKENS]), 100)
            found.append([tokens.unique().numel(), tokens.sum().item()])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, generate), lambda n: work(n, generate_fixed), repeats=125)
