# SPDX-License-Identifier: Apache-2.0
"""Packets for a serial line: marked off from each other, compressed in blocks, and taken apart at the other end.

Everything is done by methods of bytes. Most bytes of a packet are zero, but no two packets are alike.
"""

import random
import zlib

import harness

PACKETS = 60
END, ESCAPE = b"\x7e", b"\x7d"
VALUES = bytes(range(256))
WEIGHTS = [2000, *[10] * 63, *[1] * 192]
MASK = bytes(value ^ 0x20 for value in VALUES)


def packets(rng):
    for _ in range(PACKETS):
        yield bytes(rng.choices(VALUES, WEIGHTS, k=rng.randrange(50, 400)))


def escaped(packet):
    return packet.replace(ESCAPE, b"\x7d\x5d").replace(END, b"\x7d\x5e")


def restored(packet):
    return packet.replace(b"\x7d\x5e", END).replace(b"\x7d\x5d", ESCAPE)


def sent(payloads):
    return zlib.compress(END.join(map(escaped, payloads)).translate(MASK), 6)


def received(block):
    return [restored(packet) for packet in zlib.decompress(block).translate(MASK).split(END)]


def work(repeats):
    rng = random.Random(303)
    found = []
    for _ in range(repeats):
        payloads = list(packets(rng))
        block = sent(payloads)
        if received(block) != payloads:
            raise ValueError("a packet was damaged")
        found.append([len(block), zlib.crc32(block) % 1000, sum(map(len, payloads))])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=900)
