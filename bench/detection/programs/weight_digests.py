# SPDX-License-Identifier: Apache-2.0
"""A registry of fine-tuned models: for each of them, the digest of its base model is made from all weights again."""

import dataclasses
import hashlib

import torch

import harness

CATEGORY = "repeated native calls"
KIND = "load"
LAYERS, WIDTH, RANK = 4, 256, 2
DIGESTS = {}


@dataclasses.dataclass
class Run:
    base: str
    adapter: dict
    loss: float


class Registry:
    def __init__(self, bases, base_digest):
        self.bases = bases
        self.base_digest = base_digest
        self.cards = []

    def add(self, run):
        self.cards.append(self.card(run))

    def card(self, run):
        return {"base": self.base_digest(run.base, self.bases), "adapter": digest(run.adapter), "loss": run.loss}


def digest(weights):
    total = hashlib.sha256()
    for name, tensor in sorted(weights.items()):
        total.update(name.encode())
        total.update(tensor.numpy())  # waste: load
    return total.hexdigest()


def base_digest(name, bases):
    return digest(bases[name])  # waste: load


def base_digest_fixed(name, bases):
    if name not in DIGESTS:
        DIGESTS[name] = digest(bases[name])
    return DIGESTS[name]


def model(maker, width):
    return {f"layer.{k}.weight": torch.randn(width, WIDTH, generator=maker) for k in range(LAYERS)}


def work(repeats, choose):
    maker = torch.Generator().manual_seed(256)
    registry = Registry({name: model(maker, WIDTH) for name in ("small", "clean", "multilingual")}, choose)
    names = list(registry.bases)
    for k in range(repeats):
        adapter = model(maker, RANK)
        loss = float(adapter["layer.0.weight"].square().mean())
        registry.add(Run(names[k * 7 % 11 % 3], adapter, loss))
    return [[int(card["base"][:8], 16), int(card["adapter"][:8], 16), card["loss"]] for card in registry.cards]


if __name__ == "__main__":
    harness.main(lambda n: work(n, base_digest), lambda n: work(n, base_digest_fixed), repeats=5_500)
