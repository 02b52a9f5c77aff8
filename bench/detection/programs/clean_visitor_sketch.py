# SPDX-License-Identifier: Apache-2.0
"""Distinct visitors of web sites, out of a stream too long to keep: the longest run of zeros for each register."""

import hashlib
import math
import random
import struct

import harness

BITS = 10
REGISTERS = 1 << BITS
WORDS = struct.Struct("<IQ")


class Sketch:
    def __init__(self):
        self.registers = bytearray(REGISTERS)

    def add(self, visitor):
        place, tail = WORDS.unpack(hashlib.blake2b(visitor, digest_size=12).digest())
        zeros = 65 - tail.bit_length()
        if zeros > self.registers[place % REGISTERS]:
            self.registers[place % REGISTERS] = zeros

    def merge(self, other):
        self.registers = bytearray(map(max, self.registers, other.registers))

    def count(self):
        """How many there were, within some three per cent."""
        counted = 0.7213 / (1 + 1.079 / REGISTERS) * REGISTERS**2 / sum(math.ldexp(1, -r) for r in self.registers)
        empty = self.registers.count(0)
        if counted < 2.5 * REGISTERS and empty:
            return REGISTERS * math.log(REGISTERS / empty)
        return counted


def visits(rng, count):
    """An address and a browser's cookie; some come back within the hour."""
    lately = [b""]
    for _ in range(count):
        if rng.random() < 0.3:
            yield lately[rng.randrange(len(lately))]
            continue
        visitor = rng.randbytes(4) + b"|" + rng.randbytes(9)
        lately.append(visitor)
        if len(lately) > 500:
            lately[rng.randrange(500)] = lately.pop()
        yield visitor


def work(repeats):
    rng = random.Random(2007)
    week, found = Sketch(), []
    for hour in range(repeats):
        sketch = Sketch()
        for visitor in visits(rng, 3_000):
            sketch.add(visitor)
        week.merge(sketch)
        if hour % 168 == 167:
            found.append(week.count())
            week = Sketch()
        found.append(sketch.count())
    return found


if __name__ == "__main__":
    harness.main(work, repeats=1_300)
