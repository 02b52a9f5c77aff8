# SPDX-License-Identifier: Apache-2.0
"""Draughts positions for a neural network: the planes of zeros and ones are written to a tensor cell by cell."""

import random

import torch

import harness

CATEGORY = "slice underutilization"
KIND = "store"
EMPTY, KINDS = 0, (1, 2, 3, 4)  # men and kings of either side
ROWS = [square // 4 for square in range(32)]
COLUMNS = [2 * (square % 4) + (square // 4 + 1) % 2 for square in range(32)]


class Game:
    def __init__(self, random_source):
        self.random = random_source
        self.cells = [1] * 12 + [EMPTY] * 8 + [2] * 12

    def play(self):
        """Some piece goes to some empty cell, now and then as a king; now and then one is taken."""
        taken = [square for square in range(32) if self.cells[square]]
        start = self.random.choice(taken)
        end = self.random.choice([square for square in range(32) if not self.cells[square]])
        piece = self.cells[start]
        self.cells[start] = EMPTY
        self.cells[end] = piece + 2 if piece < 3 and self.random.random() < 0.05 else piece
        if len(taken) > 6 and self.random.random() < 0.2:
            self.cells[self.random.choice(taken)] = EMPTY


def encode(cells, planes):
    for square, piece in enumerate(cells):
        for k, kind in enumerate(KINDS):
            planes[k, ROWS[square], COLUMNS[square]] = float(piece == kind)  # waste: store


def encode_fixed(cells, planes):
    planes[:, ROWS, COLUMNS] = (torch.tensor(cells) == torch.tensor(KINDS)[:, None]).float()


def network(seed):
    maker = torch.Generator().manual_seed(seed)
    return torch.randn(32, 4 * 64, generator=maker) / 16.0, torch.randn(32, generator=maker)


def value(planes, layers):
    return float(torch.tanh(layers[0] @ planes.flatten()) @ layers[1])


def work(repeats, write):
    random_source = random.Random(1756)
    layers = network(64)
    planes = torch.zeros(len(KINDS), 8, 8)
    found = []
    for _ in range(repeats):
        game = Game(random_source)
        for _ in range(60):
            game.play()
            write(game.cells, planes)
            found.append(value(planes, layers))
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, encode), lambda n: work(n, encode_fixed), repeats=100)
