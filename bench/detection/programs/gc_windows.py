# SPDX-License-Identifier: Apache-2.0
"""The share of G and C along a chromosome, window by window; a window is walked letter by letter."""

import random

import harness

CATEGORY = "slice underutilization"
KIND = "load"
WINDOW = 500


def chromosome(random_source, length):
    """Stretches that are rich in G and C follow poor ones."""
    parts = []
    while length > 0:
        size = min(length, random_source.randrange(300, 4000))
        rich = random_source.randrange(40, 84)  # of 128
        letters = b"G" * rich + b"C" * rich + b"A" * (128 - rich) + b"T" * (128 - rich)
        parts.append(random_source.randbytes(size).translate(letters).decode("ascii"))
        length -= size
    return "".join(parts)


def shares(sequence):
    for start in range(0, len(sequence) - WINDOW + 1, WINDOW):
        count = 0
        for place in range(start, start + WINDOW):
            if sequence[place] in "GC":  # waste: load
                count += 1
        yield start, count / WINDOW


def shares_fixed(sequence):
    for start in range(0, len(sequence) - WINDOW + 1, WINDOW):
        stop = start + WINDOW
        yield start, (sequence.count("G", start, stop) + sequence.count("C", start, stop)) / WINDOW


def islands(windows, least=0.55):
    """[(start, end)] of runs of rich windows."""
    found, begin, last = [], None, 0
    for start, share in windows:
        if share >= least:
            begin = start if begin is None else begin
            last = start + WINDOW
        elif begin is not None:
            found.append((begin, last))
            begin = None
    if begin is not None:
        found.append((begin, last))
    return found


def work(repeats, scan):
    random_source = random.Random(703)
    found = []
    for _ in range(repeats):
        runs = islands(scan(chromosome(random_source, 200000)))
        found.append([len(runs), sum(end - start for start, end in runs), runs[0][0] if runs else -1])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, shares), lambda n: work(n, shares_fixed), repeats=750)
