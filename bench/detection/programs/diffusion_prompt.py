# SPDX-License-Identifier: Apache-2.0
"""Small pictures from words by a diffusion model; at each of its steps, the words are encoded once more."""

import math

import torch
from torch import nn

import harness

# The prompt stays the same for all steps of a picture, and so does what encodes it: loop-invariant computation.
CATEGORY = "loop-invariant computation"
KIND = "store"
SIDE, WORDS, WIDTH, STEPS = 12, 24, 64, 40


class Encoder(nn.Module):
    """Words to a vector each, by two layers of attention."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(500, WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 2 * WIDTH, dropout=0.0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2)

    def forward(self, words):
        return self.layers(self.embedding(words))


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.SiLU(), nn.Conv2d(16, 16, 3, padding=1), nn.SiLU())
        self.bias = nn.Linear(2 * WIDTH, 16)
        self.outer = nn.Conv2d(16, 3, 3, padding=1)

    def forward(self, pictures, time, context):
        angles = time * torch.exp(torch.linspace(0.0, -math.log(1000.0), WIDTH // 2))
        clock = torch.cat([angles.sin(), angles.cos()]).expand(len(pictures), WIDTH)
        bias = self.bias(torch.cat([clock, context.mean(dim=1)], dim=1))
        return self.outer(self.inner(pictures) + bias[:, :, None, None])


class Painter:
    def __init__(self):
        self.encoder, self.denoiser = Encoder().eval(), Denoiser().eval()
        self.noise = torch.linspace(1e-4, 0.06, STEPS)
        self.kept = torch.cumprod(1.0 - self.noise, 0)

    def estimate(self, pictures, step, words):
        context = self.encoder(words)  # waste: store
        return self.denoiser(pictures, float(step), context)

    def backwards(self, pictures, step, guess):
        mean = (pictures - self.noise[step] / torch.sqrt(1.0 - self.kept[step]) * guess) / torch.sqrt(1.0 - self.noise[step])
        return mean + torch.sqrt(self.noise[step]) * torch.randn_like(mean) if step else mean

    @torch.no_grad()
    def paint(self, words):
        pictures = torch.randn(len(words), 3, SIDE, SIDE)
        for step in reversed(range(STEPS)):
            pictures = self.backwards(pictures, step, self.estimate(pictures, step, words))
        return pictures

    @torch.no_grad()
    def paint_fixed(self, words):
        pictures, context = torch.randn(len(words), 3, SIDE, SIDE), self.encoder(words)
        for step in reversed(range(STEPS)):
            pictures = self.backwards(pictures, step, self.denoiser(pictures, float(step), context))
        return pictures


def work(orders, painting):
    torch.manual_seed(95)
    painter, found = Painter(), []
    for _ in range(orders):
        words = torch.randint(500, (4, WORDS))
        pictures = painting(painter, words)
        found.append([pictures.mean().item(), pictures.std().item(), pictures.abs().max().item()])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, Painter.paint), lambda n: work(n, Painter.paint_fixed), repeats=240)
