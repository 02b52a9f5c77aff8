# SPDX-License-Identifier: Apache-2.0
"""Crevasses in radar images of a glacier: batches for a classifier are made from lists of NumPy arrays."""

import numpy as np
import torch

import harness

# torch.tensor() takes a list as nested sequences and converts number by number; NumPy stacks the arrays, and torch
# takes the result as it is. One library's data is handed to the other by the slow door: API misuse.
CATEGORY = "API misuse"
KIND = "load"
SIDE, BATCH = 33, 24


class Glacier:
    """A radar image with cracks across the flow of the ice."""

    def __init__(self, rng, height, width):
        self.rng = rng
        y, x = np.mgrid[:height, :width].astype(np.float32)
        speckle = rng.gamma(4.0, 0.25, (height, width)).astype(np.float32)
        self.image = (0.5 + 0.2 * np.sin(x / 31.0) * np.cos(y / 23.0)) * speckle
        self.cracked = np.zeros((height, width), dtype=bool)
        for _ in range(width // 12):
            row, start, length = rng.integers(height), rng.integers(width), rng.integers(20, 70)
            columns = np.arange(start, min(start + length, width))
            rows = (row + np.cumsum(rng.choice([-1, 0, 0, 1], columns.size))) % height
            self.cracked[rows, columns] = True
            self.image[rows, columns] += 1.1

    def patches(self, count):
        """Squares with their labels: is a crack near the middle?"""
        height, width = self.image.shape
        tops, lefts = self.rng.integers(height - SIDE, size=count), self.rng.integers(width - SIDE, size=count)
        found, labels, half = [], [], SIDE // 2
        for top, left in zip(tops, lefts):
            patch = self.image[top:top + SIDE, left:left + SIDE]
            found.append(patch[None] - patch.mean())
            middle = self.cracked[top + half - 3:top + half + 4, left + half - 3:left + half + 4]
            labels.append(int(middle.any()))
        return found, labels


class Loader:
    def __init__(self, glacier):
        self.glacier = glacier

    def collate(self, patches):
        return torch.tensor(patches)  # waste: load

    def batches(self, count):
        for _ in range(count):
            patches, labels = self.glacier.patches(BATCH)
            yield self.collate(patches), torch.tensor(labels)


class FixedLoader(Loader):
    def collate(self, patches):
        return torch.from_numpy(np.stack(patches))


def classifier():
    """The baseline that the networks have to beat: light and shadow on a coarse grid."""
    return torch.nn.Sequential(torch.nn.MaxPool2d(3), torch.nn.Flatten(), torch.nn.Linear((SIDE // 3) ** 2, 2))


def train(model, batches):
    optimiser = torch.optim.SGD(model.parameters(), lr=0.003, momentum=0.9)
    losses = []
    for patches, labels in batches:
        loss = torch.nn.functional.cross_entropy(model(patches), labels)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return losses


def work(rounds, kind):
    torch.manual_seed(79)
    rng = np.random.default_rng(79)
    model, found = classifier(), []
    for _ in range(rounds):
        losses = train(model, kind(Glacier(rng, 180, 240)).batches(40))
        found.append(np.mean(losses))
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, Loader), lambda n: work(n, FixedLoader), repeats=45)
