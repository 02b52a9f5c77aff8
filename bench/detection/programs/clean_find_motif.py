# SPDX-License-Identifier: Apache-2.0
"""Which reads of a sequencer hold one of the known motifs? str.find() says where, and mostly -1: not there.

That nearly all calls return the same is the nature of the question; each is about another read or another motif.
"""

import numpy as np

import harness

LENGTH, READS, MOTIFS = 400, 500, 80
LETTERS = np.frombuffer(b"ACGT", dtype=np.uint8)


def texts(rng, count, length):
    letters = LETTERS[rng.integers(4, size=(count, length))]
    return [row.tobytes().decode("ascii") for row in letters]


def places(read, motifs):
    for motif in motifs:
        place = read.find(motif)
        if place >= 0:
            yield place


def work(repeats):
    rng = np.random.default_rng(208)
    motifs = texts(rng, MOTIFS, 8)
    found = []
    for _ in range(repeats):
        count = first = 0
        for read in texts(rng, READS, LENGTH):
            for place in places(read, motifs):
                count += 1
                first += place
        found.append([count, first])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=110)
