# SPDX-License-Identifier: Apache-2.0
"""Longest repeats in the genomes of phages: all suffixes are ranked by doubling; every genome is another one."""

import numpy as np

import harness


def genome(rng, bases=6_000):
    """Random bases, with some stretches that were copied to other places, not always without a fault."""
    letters = rng.integers(4, size=bases)
    for _ in range(8):
        size = rng.integers(20, 300)
        source, target = rng.integers(bases - size, size=2)
        letters[target : target + size] = letters[source : source + size]
        letters[target + rng.integers(size)] = rng.integers(4)
    return letters


def suffixes(letters):
    """Their starts in order, and the rank of each start."""
    rank, width = letters.astype(np.int64), 1
    while True:
        second = np.zeros_like(rank)
        second[:-width] = rank[width:] + 1
        key = rank * (len(rank) + 5) + second
        order = np.argsort(key, kind="stable")
        is_new = np.diff(key[order]) != 0
        rank = np.empty_like(order)
        rank[order] = np.concatenate([[0], np.cumsum(is_new)])
        if is_new.all():
            return order, rank
        width *= 2


def common(letters, order, rank):
    """How long each suffix agrees with its neighbour in the order (Kasai's way)."""
    text, order, rank = letters.tolist(), order.tolist(), rank.tolist()
    lengths, length, end = [0] * len(text), 0, len(text)
    for start, place in enumerate(rank):
        if place == 0:
            length = 0
            continue
        other = order[place - 1]
        while start + length < end and other + length < end and text[start + length] == text[other + length]:
            length += 1
        lengths[place] = length
        length = max(0, length - 1)
    return lengths


def work(repeats):
    rng = np.random.default_rng(1953)
    found = []
    for _ in range(repeats):
        letters = genome(rng)
        order, rank = suffixes(letters)
        lengths = common(letters, order, rank)
        found.append([max(lengths), int(order[int(np.argmax(lengths))]), sum(lengths)])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=900)
