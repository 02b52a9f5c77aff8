# SPDX-License-Identifier: Apache-2.0
"""NumPy on arrays of all sizes, with Python in between."""

import numpy

from harness import run


def work(repeats):
    generator = numpy.random.default_rng(1)
    small, middle = generator.random(16), generator.random((200, 200))
    large = generator.random(1_000_000)
    total = 0.0
    for i in range(repeats):
        for _ in range(200):
            total += float((small * i + 1.0).sum())
        total += float((middle @ middle).trace())
        total += float(numpy.sort(large[: 20_000]).mean() + large[::7].sum())
        large *= 1.0000001
        total += float(numpy.exp(-large[: 50_000]).max())
    return total


run(work, 570)
