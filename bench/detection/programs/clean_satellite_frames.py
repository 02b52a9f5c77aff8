# SPDX-License-Identifier: Apache-2.0
"""Decodes the telegrams of a small satellite: the length and meaning of each part follow from the part before."""

import random
import struct
import zlib

import harness

HEAD = struct.Struct(">HBBI")
POWER = struct.Struct(">hHh")
ATTITUDE = struct.Struct(">4f")
PIXEL_RUN = struct.Struct(">BB")
MARK = 0x1ACF


def part(rng):
    kind = rng.choices((1, 2, 3), weights=(5, 3, 2))[0]
    if kind == 1:
        return kind, POWER.pack(rng.randrange(-400, 900), rng.randrange(6_000, 8_400), rng.randrange(-300, 600))
    if kind == 2:
        return kind, ATTITUDE.pack(*(rng.uniform(-1.0, 1.0) for _ in range(4)))
    return kind, b"".join(PIXEL_RUN.pack(rng.randrange(1, 9), rng.randrange(256)) for _ in range(rng.randrange(5, 25)))


def telegram(rng, number):
    body = bytearray()
    for _ in range(rng.randrange(8, 20)):
        kind, content = part(rng)
        body += bytes((kind, len(content))) + content
    return HEAD.pack(MARK, number & 0xFF, len(body) >> 8, len(body)) + body + zlib.crc32(body).to_bytes(4, "big")


def decode(data, sums):
    """Adds what it finds to sums: current, voltage, turns, brightness, pixels."""
    mark, _, _, length = HEAD.unpack_from(data)
    end = HEAD.size + length
    body = memoryview(data)[HEAD.size : end]
    if mark != MARK or zlib.crc32(body) != int.from_bytes(data[end : end + 4], "big"):
        return False
    at = 0
    while at < length:
        kind, size = body[at], body[at + 1]
        at += 2
        if kind == 1:
            current, voltage, _ = POWER.unpack_from(body, at)
            sums[0] += current
            sums[1] += voltage
        elif kind == 2:
            q0, q1, q2, q3 = ATTITUDE.unpack_from(body, at)
            sums[2] += q0 * q3 - q1 * q2
        else:
            for count, grey in PIXEL_RUN.iter_unpack(body[at : at + size]):
                sums[3] += count * grey
                sums[4] += count
        at += size
    return True


def work(repeats):
    rng = random.Random(1957)
    sums, good = [0, 0, 0.0, 0, 0], 0
    for number in range(repeats):
        good += decode(telegram(rng, number), sums)
    return [*sums, good]


if __name__ == "__main__":
    harness.main(work, repeats=70_000)
