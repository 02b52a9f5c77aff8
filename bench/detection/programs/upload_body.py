# SPDX-License-Identifier: Apache-2.0
"""A proxy takes uploads in pieces as they come from the network; the body so far is copied for each piece."""

import hashlib
import random
import zlib

import harness

CATEGORY = "inefficient algorithm"
KIND = "store"
MOST_BYTES = 1460  # of one piece
POOL = random.Random(401).randbytes(1 << 20)


def pieces(random_source, size):
    """The body of one upload, cut as packets arrive."""
    while size > 0:
        length = min(size, random_source.randrange(600, MOST_BYTES + 1))
        start = random_source.randrange(len(POOL) - length)
        yield POOL[start : start + length]
        size -= length


class Upload:
    def __init__(self, declared):
        self.declared = declared
        self.body = b""

    def receive(self, piece):
        self.body += piece  # waste: store
        return len(self.body) >= self.declared

    def content(self):
        return self.body


class UploadFixed:
    def __init__(self, declared):
        self.declared = declared
        self.received, self.parts = 0, []

    def receive(self, piece):
        self.parts.append(piece)
        self.received += len(piece)
        return self.received >= self.declared

    def content(self):
        return b"".join(self.parts)


def stored(body):
    """What the proxy notes of a body: its size, its sum and the start of its name."""
    return [len(body), zlib.crc32(body), int.from_bytes(hashlib.sha1(body).digest()[:3], "big")]


def work(repeats, kind):
    random_source = random.Random(402)
    found = []
    for _ in range(repeats):
        size = random_source.randrange(1_500_000, 2_500_000)
        upload = kind(size)
        for piece in pieces(random_source, size):
            if upload.receive(piece):
                break
        found.append(stored(upload.content()))
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, Upload), lambda n: work(n, UploadFixed), repeats=20)
