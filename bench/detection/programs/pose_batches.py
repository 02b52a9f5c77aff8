# SPDX-License-Identifier: Apache-2.0
"""Gestures from hand poses: a small network is trained on batches, which torch makes out of a list of arrays."""

import numpy as np
import torch
from torch import nn

import harness

# A list of arrays is walked number by number; one array of the batch is taken over as it is: API misuse.
CATEGORY = "API misuse"
KIND = "load"
JOINTS, FRAMES, GESTURES = 21, 12, 5
BATCH = 64


def clip(rng, gesture):
    """A short clip of joints that move as the gesture says, seen from some side."""
    time = np.linspace(0, 1, FRAMES)[:, None]
    rest = rng.normal(0, 0.1, (1, JOINTS * 2)) + np.linspace(-1, 1, JOINTS * 2)
    beat = np.sin(2 * np.pi * (gesture + 1) * time + rng.uniform(0, 0.5))
    swing = beat * np.cos(np.arange(JOINTS * 2) * (gesture + 1))
    return (rest + 0.5 * swing + rng.normal(0, 0.15, (FRAMES, JOINTS * 2))).astype(np.float32)


class Clips:
    def __init__(self, rng, count):
        self.labels = rng.integers(0, GESTURES, count)
        self.clips = [clip(rng, int(label)) for label in self.labels]

    def centred(self, number):
        """The wrist is the origin, and the hand's size is one."""
        frames = self.clips[number]
        moved = frames - np.tile(frames[:, :2], JOINTS)
        return moved / np.abs(moved).max()

    def batches(self, rng, join):
        order = rng.permutation(len(self.clips))
        for at in range(0, len(order) - BATCH + 1, BATCH):
            chosen = order[at:at + BATCH]
            yield join([self.centred(number) for number in chosen]), torch.from_numpy(self.labels[chosen])


def join(frames):
    return torch.tensor(frames)  # waste: load


def join_fixed(frames):
    return torch.from_numpy(np.stack(frames))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.over_time = nn.Conv1d(JOINTS * 2, 24, 3, padding=1)
        self.norm = nn.BatchNorm1d(24)
        self.out = nn.Linear(24 * 2, GESTURES)

    def forward(self, frames):
        hidden = torch.relu(self.norm(self.over_time(frames.transpose(1, 2))))
        return self.out(torch.cat([hidden.mean(dim=2), hidden.amax(dim=2)], dim=1))


def epoch(net, optimiser, clips, rng, join):
    total, right, seen = 0.0, 0, 0
    for frames, labels in clips.batches(rng, join):
        optimiser.zero_grad()
        scores = net(frames)
        loss = nn.functional.cross_entropy(scores, labels)
        loss.backward()
        optimiser.step()
        total += loss.item()
        right += int((scores.argmax(dim=1) == labels).sum())
        seen += len(labels)
    return total / (seen // BATCH), right / seen


def work(epochs, join):
    torch.manual_seed(623)
    torch.set_num_threads(1)
    rng = np.random.default_rng(623)
    clips, net = Clips(rng, 1200), Net()
    optimiser = torch.optim.SGD(net.parameters(), 0.05, momentum=0.9)
    return np.round([epoch(net, optimiser, clips, rng, join) for _ in range(epochs)], 5)


if __name__ == "__main__":
    import warnings

    warnings.filterwarnings("ignore", "Creating a tensor from a list")
    harness.main(lambda n: work(n, join), lambda n: work(n, join_fixed), repeats=70)
