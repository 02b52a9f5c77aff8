# SPDX-License-Identifier: Apache-2.0
"""Similar bird watchers: a row of a table is looked up by a product with a vector that is zero but for a single one."""

import torch

import harness

CATEGORY = "API misuse"
KIND = "load"
SPECIES, WIDTH, SEEN = 1_800, 32, 10


class Encoder(torch.nn.Module):
    def __init__(self, generator):
        super().__init__()
        self.table = torch.nn.Parameter(torch.randn(SPECIES, WIDTH, generator=generator))
        self.weight = torch.nn.Parameter(torch.randn(WIDTH, WIDTH, generator=generator) / WIDTH**0.5)

    def embed(self, species):
        chosen = torch.nn.functional.one_hot(species, SPECIES).float()  # waste: load
        return chosen @ self.table  # waste: load

    def forward(self, species):
        """One vector of length 1 for each list of species."""
        mixed = torch.tanh(self.embed(species) @ self.weight).mean(dim=1)
        return torch.nn.functional.normalize(mixed, dim=1)


class FixedEncoder(Encoder):
    def embed(self, species):
        return torch.nn.functional.embedding(species, self.table)


def walks(generator, count):
    """What people saw; near species live in the same place."""
    places = torch.randint(SPECIES, (count, 1), generator=generator)
    return (places + torch.randint(60, (count, SEEN), generator=generator)) % SPECIES


def nearest(vectors):
    likeness = vectors @ vectors.T
    likeness.fill_diagonal_(-1.0)
    return likeness.max(dim=1)


def work(repeats, kind):
    generator = torch.Generator().manual_seed(1905)
    encoder, found = kind(generator), []
    for _ in range(repeats):
        best = nearest(encoder(walks(generator, 48)))
        found.append([float(best.values.mean()), float(best.values.max()), int(best.indices.unique().numel())])
    return found


if __name__ == "__main__":
    torch.set_num_threads(1)
    with torch.no_grad():
        harness.main(lambda n: work(n, Encoder), lambda n: work(n, FixedEncoder), repeats=2_150)
