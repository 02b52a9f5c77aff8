# SPDX-License-Identifier: Apache-2.0
"""Small pictures are normalised one by one; the tensors of mean and deviation are made for each of them."""

import torch

import harness

CATEGORY = "loop-invariant computation"
KIND = "store"
MEAN, DEVIATION = [0.4914, 0.4822, 0.4465], [0.2470, 0.2435, 0.2616]


def normalise(pictures):
    batch = []
    for picture in pictures:
        mean = torch.tensor(MEAN).view(3, 1, 1)  # waste: store
        deviation = torch.tensor(DEVIATION).view(3, 1, 1)  # waste: store
        batch.append((picture - mean) / deviation)
    return torch.stack(batch)


def normalise_fixed(pictures):
    mean = torch.tensor(MEAN).view(3, 1, 1)
    deviation = torch.tensor(DEVIATION).view(3, 1, 1)
    return torch.stack([(picture - mean) / deviation for picture in pictures])


def work(repeats, prepare):
    torch.manual_seed(32)
    filters = torch.randn(4, 3, 3, 3) / 9.0
    pictures = torch.rand(64, 3, 16, 16)
    total = torch.zeros(4)
    with torch.no_grad():
        for _ in range(repeats):
            batch = prepare(pictures)
            total += torch.relu(torch.nn.functional.conv2d(batch, filters, stride=4)).mean(dim=(0, 2, 3))
    return (total / repeats).numpy()


if __name__ == "__main__":
    harness.main(lambda n: work(n, normalise), lambda n: work(n, normalise_fixed), repeats=9100)
