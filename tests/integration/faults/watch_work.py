# SPDX-License-Identifier: Apache-2.0
"""Work for the other programs: element loops over NumPy arrays, where memory accesses are watched all the time.

It always takes the same number of steps, some 30 ms for each of `rounds`, and gives the same result."""
import numpy


def element_loop(rounds=1, size=300, steps=5000):
    array = numpy.arange(size, dtype=float)
    total = 0.0
    for _ in range(rounds):
        for step in range(steps):
            at = step % (size - 2)
            for i in range(20):
                total += array[(at + i) % size] * 0.5
            array[at] = total % 17
            array[at + 1] = array[at]
    return round(total, 6)
