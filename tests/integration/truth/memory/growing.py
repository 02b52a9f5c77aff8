# SPDX-License-Identifier: Apache-2.0
"""growing.py WHAT: lines that copy all that was there with each call, and lines that look as if they did. Says in how
many calls, and what they have copied."""

import json
import random
import sys


def append(numpy, say):
    """Twice from the start: what grows need not grow for the whole run."""
    for _ in range(2):
        series = numpy.zeros(0)
        for number in range(40000):
            series = numpy.append(series, number)  # append
    say(2 * 40000, 2 * 8 * 40000**2 // 2)


def stack(numpy, say):
    table = numpy.zeros((0, 8))
    for _ in range(8000):
        table = numpy.vstack([table, numpy.ones((1, 8))])  # stack
    say(8000, 64 * 8000**2 // 2)


def join(numpy, say):
    text = b""
    for _ in range(8000):
        text += b"x" * 100  # join
    say(8000, 100 * 8000**2 // 2)


class Page:
    text = ""


def attribute(numpy, say):
    """CPython extends a string in place only where a variable holds it."""
    page = Page()
    for _ in range(8000):
        page.text += "x" * 100  # attribute
    say(8000, 100 * 8000**2 // 2)


def variable(numpy, say):
    text = ""
    for _ in range(1500000):
        text += "x" * 100  # variable


def at_random(numpy, say):
    whole, choose = numpy.ones(100000), random.Random(1)
    for _ in range(8000):
        part = whole[: choose.randrange(1000, 100000)].copy()  # at_random
        assert part.size


def to_and_fro(numpy, say):
    """Sizes that differ little from one another and come again."""
    whole, choose, size = numpy.ones(100000), random.Random(1), 50000
    for _ in range(8000):
        size = min(max(size + choose.randrange(-50, 51), 1000), 100000)
        part = whole[:size].copy()  # to_and_fro
        assert part.size


def rounds(numpy, say):
    """Data of six sizes in turn, five of them a little larger than the one before, and each is copied many times."""
    whole = numpy.ones(100000)
    for size in [500, 2000, *(20000 + 500 * (turn % 6) for turn in range(60))]:
        for _ in range(250):
            part = whole[:size].copy()  # rounds
            assert part.size


def amortised(numpy, say):
    for _ in range(10):
        items, data = [], bytearray()
        for number in range(200000):
            items.append(number)
            data += b"x" * 100  # amortised


def cache(numpy, say):
    """A cache that warms up, with values of many sizes."""
    known, choose = {}, random.Random(1)
    for _ in range(200000):
        key = choose.randrange(20000)
        if key not in known:
            known[key] = bytes(bytearray(choose.randrange(1000, 9000)))  # cache


def once(numpy, say):
    whole = numpy.ones(20000000)
    for _ in range(3):
        other = whole.copy()  # once
        assert other.size


def reads(numpy, say):
    """Each round works on more than the one before, and copies nothing."""
    whole, total = numpy.ones(15000), 0.0
    for size in range(15000):
        total += (whole[:size] * 2.0).sum()  # reads


def rebuilt(numpy, say):
    """Parts that were large from the first are put together anew each time, and are a little more."""
    whole = numpy.ones(40000)
    for size in range(30000, 38000):
        table = numpy.concatenate([whole[:size], whole[:size]])  # rebuilt
        assert table.size


def short(numpy, say):
    """Twenty calls are too few to tell."""
    text = bytes(1000000)
    for _ in range(20):
        text += b"x" * 100  # short


GROW = {"append": append, "stack": stack, "join": join, "attribute": attribute}
DO_NOT = {"variable": variable, "at_random": at_random, "to_and_fro": to_and_fro, "rounds": rounds, "amortised": amortised,
          "cache": cache, "once": once, "reads": reads, "rebuilt": rebuilt, "short": short}

if __name__ == "__main__":
    import numpy

    (GROW | DO_NOT)[sys.argv[1]](numpy, lambda calls, copied: print(json.dumps({"calls": calls, "bytes": copied})))
