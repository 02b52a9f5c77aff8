# SPDX-License-Identifier: Apache-2.0
"""Frames of a radio modem: they are cut out of a stream, unstuffed, checked with a CRC that takes byte after byte."""

import random
import struct
import zlib

import harness

# The CRC takes a whole frame in one call: repeated native calls.
CATEGORY = "repeated native calls"
KIND = "load"
FLAG, ESCAPE, TWIST = b"\x7e", b"\x7d", 0x20
HEAD = struct.Struct(">HBBI")
TRAILER = struct.Struct(">I")


def stuff(body):
    """Flags and escapes inside a frame are hidden."""
    body = body.replace(ESCAPE, bytes((ESCAPE[0], ESCAPE[0] ^ TWIST)))
    return body.replace(FLAG, bytes((ESCAPE[0], FLAG[0] ^ TWIST)))


def unstuff(body):
    body = body.replace(bytes((ESCAPE[0], FLAG[0] ^ TWIST)), FLAG)
    return body.replace(bytes((ESCAPE[0], ESCAPE[0] ^ TWIST)), ESCAPE)


def transmit(rng, count):
    """A stream of frames; some of them lose a byte on the way."""
    parts = []
    for number in range(count):
        load = rng.randbytes(rng.randrange(60, 700))
        body = HEAD.pack(number & 0xFFFF, rng.randrange(4), rng.randrange(16), len(load)) + load
        frame = stuff(body + TRAILER.pack(zlib.crc32(body)))
        if rng.random() < 0.05:
            at = rng.randrange(len(frame))
            frame = frame[:at] + b"\x55" + frame[at + 1:]
        parts.append(frame)
    return FLAG + FLAG.join(parts) + FLAG


def check(body):
    value = 0
    for at in range(len(body)):
        value = zlib.crc32(body[at:at + 1], value)  # waste: load
    return value


def check_fixed(body):
    return zlib.crc32(body)


class Receiver:
    """Takes the stream in pieces as the serial line gives them."""

    def __init__(self, checking):
        self.checking = checking
        self.rest = b""
        self.good, self.bad, self.missing = [], 0, 0
        self.last = None

    def feed(self, piece):
        *frames, self.rest = (self.rest + piece).split(FLAG)
        for frame in frames:
            if frame:
                self.take(unstuff(frame))

    def take(self, frame):
        body, trailer = frame[:-TRAILER.size], frame[-TRAILER.size:]
        if len(body) < HEAD.size or self.checking(body) != TRAILER.unpack(trailer)[0]:
            self.bad += 1
            return
        number, kind, channel, size = HEAD.unpack_from(body)
        if self.last is not None:
            self.missing += (number - self.last - 1) & 0xFFFF
        self.last = number
        self.good.append((kind, channel, size))

    def channels(self):
        sums = [0] * 16
        for _, channel, size in self.good:
            sums[channel] += size
        return sums


def work(streams, checking):
    rng, rows = random.Random(619), []
    for _ in range(streams):
        receiver, stream = Receiver(checking), transmit(rng, 260)
        at = 0
        while at < len(stream):
            size = rng.randrange(200, 4096)
            receiver.feed(stream[at:at + size])
            at += size
        rows.append([len(receiver.good), receiver.bad, receiver.missing, *receiver.channels()])
    return rows


if __name__ == "__main__":
    harness.main(lambda n: work(n, check), lambda n: work(n, check_fixed), repeats=600)
