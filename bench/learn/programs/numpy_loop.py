# SPDX-License-Identifier: Apache-2.0
"""NumPy calls of several kinds on arrays of 8 to 30 000 elements: functions, universal functions, methods."""

import numpy
import random

from common import loop, run

COUNT = 11_000


def items(count):
    choice, generator = random.Random(13), numpy.random.default_rng(13)
    arrays = [generator.random(int(8 * 2 ** (choice.random() ** 2 * 12))) for _ in range(200)]
    return iter(choice.choices(arrays, k=count))


def normalise(values, mean):
    """Python with operators of NumPy inside."""
    centred = values - mean
    return centred / ((centred * centred).sum() + 1e-9)


def work(items):
    total, seen = 0.0, 0
    matrix = numpy.eye(60) + 0.01
    for values in loop(items):
        seen += 1
        mean = values.mean()
        scaled = normalise(values, mean)
        ordered = numpy.sort(values)
        raised = numpy.exp(scaled)
        product = numpy.dot(ordered, raised)
        counts = numpy.histogram(values, 16)
        peak = numpy.maximum.reduce(raised)
        if seen % 50 == 0:
            numpy.linalg.solve(matrix, matrix)
        total += float(product)
        if peak < 0 or counts is None:
            raise AssertionError
    return total


if __name__ == "__main__":
    run(work, items, COUNT)
