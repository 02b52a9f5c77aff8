# SPDX-License-Identifier: Apache-2.0
"""Family trees of species by neighbour joining: each step needs the distances that the step before has made."""

import numpy as np

import harness

BASES = 4


def evolve(rng, species, sites):
    """Sequences of species that split one after the other, each site with a speed of its own."""
    speed = rng.gamma(0.8, 1.25, sites)
    total = speed.sum()
    shares, sequences = speed / total, np.empty((species, sites), dtype=np.uint8)
    sequences[0] = rng.integers(BASES, size=sites)
    for count in range(1, species):
        sequences[count] = sequences[rng.integers(count)]
        changes = rng.poisson(0.012 * total * (count + 1))
        places = rng.integers(count + 1, size=changes), rng.choice(sites, changes, p=shares)
        sequences[places] = rng.integers(BASES, size=changes)
    return sequences


def distances(sequences):
    """Jukes and Cantor's correction of the share of sites that differ."""
    count, sites = sequences.shape
    same = np.zeros((count, count), dtype=np.float32)
    for base in range(BASES):
        one = (sequences == base).astype(np.float32)
        same += one @ one.T
    differ = np.minimum(1.0 - same.astype(float) / sites, 0.74)
    return -0.75 * np.log1p(-differ / 0.75)


class Joiner:
    """Saitou and Nei's method. Rows that were joined leave by moving the last one to their place."""

    def __init__(self, table):
        self.table = table.copy()
        self.count = len(table)
        self.sums = self.table.sum(axis=1)
        self.nodes = list(range(self.count))
        self.branches = []

    def nearest(self):
        count = self.count
        score = (count - 2) * self.table[:count, :count]
        score -= self.sums[:count, None]
        score -= self.sums[:count]
        np.fill_diagonal(score, np.inf)
        return divmod(int(score.argmin()), count)

    def join(self, node):
        one, other = sorted(self.nearest())
        count, table, gap = self.count, self.table, self.table[one, other]
        tilt = (self.sums[one] - self.sums[other]) / (count - 2)
        self.branches += [(self.nodes[one], node, 0.5 * (gap + tilt)), (self.nodes[other], node, 0.5 * (gap - tilt))]
        fresh = 0.5 * (table[one, :count] + table[other, :count] - gap)
        self.sums[:count] += fresh - table[one, :count] - table[other, :count]
        table[one, :count] = table[:count, one] = fresh
        table[one, one] = 0.0
        self.nodes[one] = node
        self.drop(other)
        self.sums[one] = table[one, :self.count].sum()

    def drop(self, place):
        last = self.count - 1
        self.table[place, :last + 1] = self.table[last, :last + 1]
        self.table[:last + 1, place] = self.table[:last + 1, last]
        self.table[place, place] = 0.0
        self.sums[place], self.nodes[place] = self.sums[last], self.nodes[last]
        self.count = last

    def tree(self):
        node = self.count
        while self.count > 2:
            self.join(node)
            node += 1
        self.branches.append((self.nodes[0], self.nodes[1], self.table[0, 1]))
        return self.branches


def cherries(branches, species):
    """Pairs of species without another between them."""
    parents = [parent for child, parent, _ in branches if child < species]
    return len(parents) - len(set(parents))


def work(families):
    rng = np.random.default_rng(1987)
    found = []
    for number in range(families):
        sequences = evolve(rng, 110 + number % 7, 500)
        branches = Joiner(distances(sequences)).tree()
        lengths = np.array([length for *_, length in branches])
        found.append([lengths.sum(), lengths.max(), cherries(branches, len(sequences))])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=500)
