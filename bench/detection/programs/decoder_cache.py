# SPDX-License-Identifier: Apache-2.0
"""A decoder makes texts letter by letter; each new key and value is joined to all earlier ones by torch.cat."""

import torch
from torch import nn

import harness

CATEGORY = "inefficient algorithm"
KIND = "store"
WINDOW = 128  # letters that attention looks back


class Cache:
    def __init__(self, _length, width):
        self.keys, self.values = torch.empty(0, width), torch.empty(0, width)

    def add(self, key, value):
        self.keys = torch.cat([self.keys, key[None]])  # waste: store
        self.values = torch.cat([self.values, value[None]])  # waste: store
        return self.keys[-WINDOW:], self.values[-WINDOW:]


class FixedCache:
    def __init__(self, length, width):
        self.keys, self.values = torch.empty(length, width), torch.empty(length, width)
        self.used = 0

    def add(self, key, value):
        self.keys[self.used], self.values[self.used] = key, value
        self.used += 1
        recent = slice(max(0, self.used - WINDOW), self.used)
        return self.keys[recent], self.values[recent]


class Decoder(nn.Module):
    def __init__(self, letters, width):
        super().__init__()
        self.embedding = nn.Embedding(letters, width)
        self.project = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, letters)

    def forward(self, letter, cache):
        x = self.embedding(letter)
        query, key, value = self.project(x).chunk(3)
        keys, values = cache.add(key, value)
        weights = torch.softmax(keys @ query / len(query) ** 0.5, dim=0)
        return self.out(x + weights @ values)


def work(repeats, kind):
    torch.manual_seed(68)
    model = Decoder(40, 128)
    found = []
    with torch.no_grad():
        for _ in range(repeats):
            cache, letter = kind(4000, 128), torch.randint(40, ())
            text = []
            for _ in range(4000):
                chances = torch.softmax(model(letter, cache), dim=0)
                letter = torch.multinomial(chances, 1)[0]
                text.append(int(letter))
            found.append(text)
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, Cache), lambda n: work(n, FixedCache), repeats=3)
