# SPDX-License-Identifier: Apache-2.0
"""Phonemes of utterances by Viterbi's algorithm, written with loops over single elements of tensors."""

import torch
from torch import nn

import harness

CATEGORY = "slice underutilization"
KIND = "load"
PHONES, BANDS = 12, 40


class Acoustic(nn.Module):
    """Scores of the phonemes for each frame."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv1d(BANDS, 64, 5, padding=2), nn.ReLU(), nn.Conv1d(64, 64, 5, padding=2), nn.ReLU(),
                                 nn.Conv1d(64, PHONES, 1))

    def forward(self, x):
        return torch.log_softmax(4.0 * self.net(x), dim=1)


def viterbi(scores, transition, start):
    """The best path through the frames and its score."""
    T, n = scores.shape
    delta = start + scores[0]
    back = torch.zeros(T, n, dtype=torch.long)
    for t in range(1, T):
        new = torch.empty(n)
        for j in range(n):
            best, arg = -float("inf"), 0
            for i in range(n):
                value = delta[i] + transition[i, j]  # waste: load
                if value > best:  # waste: load
                    best, arg = value, i
            new[j] = best + scores[t, j]  # waste: load
            back[t, j] = arg  # waste: load
        delta = new
    path = [int(delta.argmax())]
    for t in range(T - 1, 0, -1):
        path.append(int(back[t, path[-1]]))
    return path[::-1], float(delta.max())


def viterbi_fixed(scores, transition, start):
    T, n = scores.shape
    delta = start + scores[0]
    back = torch.zeros(T, n, dtype=torch.long)
    for t in range(1, T):
        best, back[t] = (delta.unsqueeze(1) + transition).max(dim=0)
        delta = best + scores[t]
    path = [int(delta.argmax())]
    for t in range(T - 1, 0, -1):
        path.append(int(back[t, path[-1]]))
    return path[::-1], float(delta.max())


def utterance(generator, length):
    """Filter bank energies that change smoothly."""
    steps = torch.randn(BANDS, length, generator=generator)
    return (steps.cumsum(dim=1) * 0.3 + torch.randn(BANDS, length, generator=generator))[None]


@torch.no_grad()
def work(utterances, decode):
    torch.manual_seed(8)
    generator = torch.Generator().manual_seed(2)
    model = Acoustic().eval()
    transition = torch.log_softmax(torch.randn(PHONES, PHONES, generator=generator) + 3.0 * torch.eye(PHONES), dim=1)
    start = torch.full((PHONES,), -2.5)
    found = []
    for number in range(utterances):
        scores = model(utterance(generator, 60 + 7 * (number % 9)))[0].t().contiguous()
        path, score = decode(scores, transition, start)
        changes = sum(a != b for a, b in zip(path, path[1:]))
        found.append([score, changes, sum(path)])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, viterbi), lambda n: work(n, viterbi_fixed), repeats=140)
