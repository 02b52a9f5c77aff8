# SPDX-License-Identifier: Apache-2.0
"""Islands of a radio mesh: when two of them meet, the label of every node is written again."""

import math
import random

import harness

# Joining two groups takes as many steps as there are nodes in the whole mesh; a forest of parents (union-find) takes a
# few. The work per join is the wrong order: inefficient algorithm, seen as labels that are written as they were.
CATEGORY = "inefficient algorithm"
KIND = "store"


class Labels:
    """Groups of nodes, each node with the number of its group."""

    def __init__(self, count):
        self.of = list(range(count))

    def group(self, node):
        return self.of[node]

    def join(self, one, other):
        keep, drop = self.of[one], self.of[other]
        if keep == drop:
            return False
        self.of = [keep if label == drop else label for label in self.of]  # waste: store
        return True


class Forest(Labels):
    """The fix: parents instead of labels, with paths cut short on the way."""

    def group(self, node):
        while self.of[node] != node:
            self.of[node] = self.of[self.of[node]]
            node = self.of[node]
        return node

    def join(self, one, other):
        keep, drop = self.group(one), self.group(other)
        self.of[drop] = keep
        return keep != drop


def town(source, count):
    """Places of the nodes: a dense centre and a few farms."""
    def place():
        radius, turn = 12.0 * source.random() ** 0.7, source.uniform(0.0, 2.0 * math.pi)
        return radius * math.cos(turn), radius * math.sin(turn)

    return [place() for _ in range(count)]


def links(source, places, reach):
    """Pairs within reach, the strongest first; walls weaken some."""
    cells = {}
    for number, (x, y) in enumerate(places):
        cells.setdefault((int(x // reach), int(y // reach)), []).append(number)
    found = []
    for (column, row), nodes in cells.items():
        near = [n for dx in (-1, 0, 1) for dy in (-1, 0, 1) for n in cells.get((column + dx, row + dy), ())]
        for one in nodes:
            for other in near:
                if one < other:
                    gap = math.dist(places[one], places[other])
                    if gap < reach and source.random() < 0.7:
                        found.append((gap * source.uniform(1.0, 1.8), one, other))
    return sorted(found)


def backbone(count, pairs, kind):
    """The links that hold the mesh together, and how many islands are left."""
    groups = kind(count)
    chosen = [(loss, one, other) for loss, one, other in pairs if groups.join(one, other)]
    return chosen, len({groups.group(node) for node in range(count)})


def work(towns, kind):
    source = random.Random(433)
    found = []
    for _ in range(towns):
        places = town(source, 900)
        pairs = links(source, places, 0.7)
        chosen, islands = backbone(len(places), pairs, kind)
        degrees = [0] * len(places)
        for _, one, other in chosen:
            degrees[one] += 1
            degrees[other] += 1
        found.append([islands, len(chosen), sum(loss for loss, *_ in chosen), max(degrees)])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, Labels), lambda n: work(n, Forest), repeats=1600)
