# SPDX-License-Identifier: Apache-2.0
"""Arrays that are watched are freed, unmapped, and their addresses used again by others, read-only memory among
them."""
import mmap

import numpy

import watch_work

total = 0.0
for size in (64, 1 << 10, 1 << 14, 1 << 18, 1 << 20):  # the last ones are mapped by malloc, each for itself
    for number in range(40):
        array = numpy.zeros(size)
        for i in range(0, 3000):
            array[i % size] += 1.5
            total += array[i % size]
        del array
        if number % 4 == 0:
            other = mmap.mmap(-1, size * 8, prot=mmap.PROT_READ)
            total += other[size]
            other.close()
for _ in range(30):
    memory = mmap.mmap(-1, 1 << 16)
    view = numpy.frombuffer(memory, dtype=numpy.int32)
    for i in range(4000):
        view[i] = view[i - 1] + 1
    total += float(view.sum())
    del view
    memory.close()
print(total, watch_work.element_loop(1))
