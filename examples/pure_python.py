#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Three small programs without any native library: planets, words, and an interpreter; about 10 s.

usage: pure_python.py [SCALE]        (SCALE 0.1 takes a tenth of the time)

What a profile should show: nearly all of it is Python time, almost half of it on the lines of
advance(), which moves the planets. Then come run_program(), whose cost is in finding out which
instruction it has before it and not in the arithmetic, and count_words(), where one line that
counts in a dictionary is the hottest of all. What the interpreter's own types do (dictionaries,
lists, strings) is Python time too. Native code is hardly more than the random numbers of
make_text().
"""
import itertools
import random
import sys
from collections import Counter

SEED = 20260


def make_bodies(rng, count=6):
    """Bodies as [x, y, z, vx, vy, vz, mass]."""
    return [
        [rng.uniform(-10, 10) for _ in range(3)]
        + [rng.uniform(-0.2, 0.2) for _ in range(3)]
        + [rng.uniform(0.1, 1.0)]
        for _ in range(count)
    ]


def advance(bodies, pairs, step):
    """One step of the motion under gravity."""
    for one, other in pairs:
        dx, dy, dz = one[0] - other[0], one[1] - other[1], one[2] - other[2]
        force = step * (dx * dx + dy * dy + dz * dz + 0.01) ** -1.5
        for axis, distance in enumerate((dx, dy, dz), start=3):
            one[axis] -= distance * other[6] * force
            other[axis] += distance * one[6] * force
    for body in bodies:
        for axis in range(3):
            body[axis] += step * body[axis + 3]


def simulate(rng, steps):
    bodies = make_bodies(rng)
    pairs = list(itertools.combinations(bodies, 2))
    for _ in range(steps):
        advance(bodies, pairs, 0.001)
    return sum(body[6] * sum(v * v for v in body[3:6]) for body in bodies) / 2


def make_text(rng, words):
    syllables = [a + b for a in "bdfgklmnprst" for b in "aeiou"]
    vocabulary = ["".join(rng.choices(syllables, k=rng.randint(1, 4))) for _ in range(2000)]
    return " ".join(rng.choices(vocabulary, weights=[1 / (n + 1) for n in range(2000)], k=words))


def count_words(text):
    """How often each pair of neighbouring words occurs."""
    pairs = Counter()
    before = ""
    for word in text.lower().split():
        pairs[before, word] += 1
        before = word
    return pairs


def run_program(code, limit):
    """Runs a program of a little stack machine; returns the top of its stack."""
    stack, place = [], 0
    while place < len(code):
        name, argument = code[place]
        place += 1
        if name == "push":
            stack.append(argument)
        elif name == "copy":
            stack.append(stack[argument])
        elif name == "swap":
            stack[-1], stack[-2] = stack[-2], stack[-1]
        elif name == "add":
            stack.append(stack.pop() + stack.pop())
        elif name == "multiply":
            stack.append(stack.pop() * stack.pop() % 1_000_003)
        elif name == "jump_below" and stack[-1] < limit:
            place = argument
    return stack[-2]


# total = 1; n = 0; do { n = n + 1; total = total * n % 1000003 + n } while (n < limit)
FACTORIALS = [
    ("push", 1), ("push", 0),
    ("push", 1), ("add", None),
    ("swap", None), ("copy", -2), ("multiply", None), ("copy", -2), ("add", None), ("swap", None),
    ("jump_below", 2),
]  # fmt: skip


def main():
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    rng = random.Random(SEED)
    print(f"energy of the planets: {simulate(rng, int(700_000 * scale)):.6f}")
    text = make_text(rng, int(3_000_000 * scale))
    pair, times = count_words(text).most_common(1)[0]
    print(f"most frequent pair: {' '.join(pair)}, {times} times")
    print(f"the machine says {run_program(FACTORIALS, int(2_400_000 * scale))}")


if __name__ == "__main__":
    main()
