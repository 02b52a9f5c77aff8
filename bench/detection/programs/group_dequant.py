# SPDX-License-Identifier: Apache-2.0
"""A small language model with packed weights: before a layer is used, its groups of weights get their scales back."""

import torch

import harness

# Weights and scales of all groups of a layer are products of whole tensors: slice underutilization.
CATEGORY = "slice underutilization"
KIND = "load"
GROUP, WIDTH, LAYERS = 16, 64, 3


class Packed:
    """Weights of eight bits, with a scale and a zero point for each group of a row."""

    def __init__(self, rows, columns):
        weights = torch.randn(rows, columns // GROUP, GROUP) / columns**0.5
        low, high = weights.amin(dim=2), weights.amax(dim=2)
        self.scale = (high - low) / 255.0
        self.zero = low
        self.codes = torch.round((weights - low[:, :, None]) / self.scale[:, :, None]).to(torch.uint8)

    def unpack(self):
        rows, groups, _ = self.codes.shape
        weights = torch.empty(rows, groups * GROUP)
        for row in range(rows):
            for group in range(groups):
                values = self.codes[row, group].float() * self.scale[row, group] + self.zero[row, group]  # waste: load
                weights[row, group * GROUP:(group + 1) * GROUP] = values  # waste: load
        return weights

    def unpack_fixed(self):
        values = self.codes.float() * self.scale[:, :, None] + self.zero[:, :, None]
        return values.flatten(1)


class Block:
    def __init__(self):
        self.wide, self.narrow = Packed(2 * WIDTH, WIDTH), Packed(WIDTH, 2 * WIDTH)
        self.gain = 1.0 + 0.1 * torch.randn(WIDTH)

    def forward(self, states, unpack):
        normal = self.gain * states / states.square().mean(dim=-1, keepdim=True).add(1e-5).sqrt()
        inner = torch.nn.functional.silu(normal @ unpack(self.wide).T)
        return states + inner @ unpack(self.narrow).T


class Model:
    def __init__(self):
        self.embedding = torch.randn(300, WIDTH)
        self.blocks = [Block() for _ in range(LAYERS)]

    def score(self, texts, unpack):
        """How well each text's next words are told, bit by bit."""
        states = self.embedding[texts]
        states = torch.cumsum(states, dim=1) / torch.arange(1, texts.shape[1] + 1)[:, None]
        for block in self.blocks:
            states = block.forward(states, unpack)
        logits = states[:, :-1] @ self.embedding.T / WIDTH**0.5
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), texts[:, 1:].flatten(), reduction="none")
        return loss.view(len(texts), -1).mean(dim=1)


@torch.no_grad()
def work(batches, unpack):
    torch.manual_seed(98)
    model, found = Model(), []
    for _ in range(batches):
        texts = torch.randint(300, (16, 96))
        loss = model.score(texts, unpack)
        found.append([loss.mean().item(), loss.max().item(), loss.argmin().item()])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, Packed.unpack), lambda n: work(n, Packed.unpack_fixed), repeats=180)
