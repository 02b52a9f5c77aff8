# SPDX-License-Identifier: Apache-2.0
"""Versions of contracts are compared by Myers' algorithm; each pair is another one."""

import random

import harness

CLAUSES = ["The tenant shall {} the {}.", "The landlord may {} any {}.", "Neither party will {} a {}.", "A {} is due for each {}."]
VERBS = ["repair", "pay", "inspect", "refuse", "sublet", "return", "paint", "keep"]
THINGS = ["roof", "garage", "deposit", "garden", "key", "notice", "cellar", "heating", "window", "meter"]


def draft(rng, n):
    return [rng.choice(CLAUSES).format(rng.choice(VERBS), rng.choice(THINGS)) for _ in range(n)]


def revise(rng, lines):
    """Lawyers delete, add and move clauses."""
    result = []
    for line in lines:
        dice = rng.random()
        if dice < 0.12:
            continue
        if dice < 0.24:
            result += draft(rng, 1)
        result.append(line)
    if result and rng.random() < 0.5:
        i = rng.randrange(len(result))
        result.insert(rng.randrange(len(result)), result.pop(i))
    return result


def shortest_edit(a, b):
    """The furthest x of each diagonal for each number of edits."""
    n, m = len(a), len(b)
    v, trace = {1: 0}, []
    for d in range(n + m + 1):
        trace.append(v.copy())
        for k in range(-d, d + 1, 2):
            if k == -d or (k != d and v[k - 1] < v[k + 1]):
                x = v[k + 1]
            else:
                x = v[k - 1] + 1
            y = x - k
            while x < n and y < m and a[x] == b[y]:
                x, y = x + 1, y + 1
            v[k] = x
            if x >= n and y >= m:
                return trace
    raise AssertionError("no way through")


def script(a, b):
    """Yields ('-', line), ('+', line), (' ', line), from the end."""
    x, y = len(a), len(b)
    for d, v in reversed(list(enumerate(shortest_edit(a, b)))):
        k = x - y
        before = k + 1 if k == -d or (k != d and v[k - 1] < v[k + 1]) else k - 1
        x0 = v[before]
        y0 = x0 - before
        while x > x0 and y > y0:
            x, y = x - 1, y - 1
            yield " ", a[x]
        if d > 0:
            yield ("+", b[y0]) if x == x0 else ("-", a[x0])
            x, y = x0, y0


def work(contracts):
    rng = random.Random(1804)
    found = []
    for _ in range(contracts):
        lines = draft(rng, rng.randrange(40, 160))
        for _ in range(4):
            newer = revise(rng, lines)
            steps = list(script(lines, newer))[::-1]
            assert [line for sign, line in steps if sign != "-"] == newer
            found.append([sum(sign == s for sign, _ in steps) for s in "+- "])
            lines = newer
    return found


if __name__ == "__main__":
    harness.main(work, repeats=8000)
