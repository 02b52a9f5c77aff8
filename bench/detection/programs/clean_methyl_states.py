# SPDX-License-Identifier: Apache-2.0
"""Methylated DNA: a hidden Markov model finds islands along many reads; the steps of all reads are taken together."""

import numpy as np

import harness

STATES, READS, SITES = 4, 1600, 400
STAY = np.array([0.97, 0.95, 0.96, 0.9])
RATES = np.array([0.06, 0.5, 0.92, 0.75])


def chain():
    table = np.repeat((1 - STAY)[:, None] / (STATES - 1), STATES, axis=1)
    np.fill_diagonal(table, STAY)
    return table


def reads(rng, table):
    """Hidden states and what the sequencer saw of them: 0, 1, or 2 for a site that it missed."""
    sums = np.cumsum(table, axis=1)
    state = rng.integers(0, STATES, READS)
    hidden = np.empty((SITES, READS), dtype=np.int8)
    chances = rng.random((SITES, READS))
    for site in range(SITES):
        state = (chances[site][:, None] > sums[state]).sum(axis=1).clip(max=STATES - 1)
        hidden[site] = state
    seen = (rng.random((SITES, READS)) < RATES[hidden]).astype(np.int8)
    seen[rng.random((SITES, READS)) < 0.08] = 2
    return hidden, seen


class Model:
    def __init__(self, table, rates):
        self.table = table
        self.chances = np.stack([1 - rates, rates, np.ones(STATES)])
        self.log_table, self.log_chances = np.log(table), np.log(self.chances)

    def viterbi(self, seen):
        """The likeliest states; the scores are kept state by state, so that a step is a few calls on long arrays."""
        score = self.log_chances[seen[0]].T - np.log(STATES)
        back = np.zeros((SITES, STATES, READS), dtype=np.int8)
        for site in range(1, SITES):
            after = np.empty_like(score)
            emitted = self.log_chances.T.take(seen[site], axis=1)
            for state in range(STATES):
                best = score[0] + self.log_table[0, state]
                for before in range(1, STATES):
                    way = score[before] + self.log_table[before, state]
                    np.copyto(back[site, state], before, where=way > best)
                    np.maximum(best, way, out=best)
                np.add(best, emitted[state], out=after[state])
            score = after
        path = np.empty((SITES, READS), dtype=np.int8)
        path[-1] = score.argmax(axis=0)
        columns = np.arange(READS)
        for site in range(SITES - 1, 0, -1):
            path[site - 1] = back[site, path[site], columns]
        return path, score.max(axis=0)

    def likelihood(self, seen):
        """The scaled forward pass; a matrix product moves all reads on by a site."""
        forward, total = self.chances[seen[0]] / STATES, np.zeros(READS)
        for site in range(1, SITES):
            forward = (forward @ self.table) * self.chances[seen[site]]
            size = forward.sum(axis=1)
            forward /= size[:, None]
            total += np.log(size)
        return total


def islands(path):
    """Changes of state along the reads, and the share of each state."""
    changes = np.count_nonzero(path[1:] != path[:-1])
    return [changes, *np.bincount(path.ravel(), minlength=STATES) / path.size]


def work(batches):
    rng, table, rows = np.random.default_rng(647), chain(), []
    model = Model(table, RATES)
    for _ in range(batches):
        hidden, seen = reads(rng, table)
        path, score = model.viterbi(seen)
        rows.append([np.mean(path == hidden), *islands(path), score.mean(), model.likelihood(seen).mean()])
    return np.round(rows, 6)


if __name__ == "__main__":
    harness.main(work, repeats=50)
