# SPDX-License-Identifier: Apache-2.0
"""Measurements go over a line in frames; one buffer is filled for each frame, and another one read into.

Each frame is packed to the same place and has its own numbers and checksum.
"""

import io
import random
import struct
import zlib

import harness

HEAD, END = struct.Struct(">HIB"), struct.Struct(">I")
VALUES = struct.Struct(">32h")
SIZE = HEAD.size + VALUES.size + END.size
MAGIC = 0xA55A


def send(rng, line, frames):
    frame = bytearray(SIZE)
    inside = memoryview(frame)[: SIZE - END.size]
    level = 0
    for number in range(frames):
        values = []
        for _ in range(32):
            level = max(-30000, min(30000, level + rng.randrange(-200, 201)))
            values.append(level)
        HEAD.pack_into(frame, 0, MAGIC, number, rng.randrange(8))
        VALUES.pack_into(frame, HEAD.size, *values)
        END.pack_into(frame, SIZE - END.size, zlib.crc32(inside))
        if rng.random() < 0.03:  # a bit turns over on the way
            frame[rng.randrange(SIZE)] ^= 1 << rng.randrange(8)
        line.write(frame)


def receive(line):
    """How many frames were broken; by channel, the sum and the highest value."""
    frame = bytearray(SIZE)
    inside = memoryview(frame)[: SIZE - END.size]
    broken, sums, highest = 0, [0] * 8, [-32768] * 8
    while line.readinto(frame) == SIZE:
        magic, _, channel = HEAD.unpack_from(frame)
        if magic != MAGIC or END.unpack_from(frame, SIZE - END.size)[0] != zlib.crc32(inside):
            broken += 1
            continue
        values = VALUES.unpack_from(frame, HEAD.size)
        sums[channel] += sum(values)
        highest[channel] = max(highest[channel], max(values))
    return [broken, *sums, *highest]


def work(repeats):
    rng = random.Random(755)
    found = []
    for _ in range(repeats):
        line = io.BytesIO()
        send(rng, line, 1000)
        line.seek(0)
        found.append(receive(line))
    return found


if __name__ == "__main__":
    harness.main(work, repeats=300)
