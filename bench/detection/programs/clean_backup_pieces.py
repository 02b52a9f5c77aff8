# SPDX-License-Identifier: Apache-2.0
"""A backup cuts files where their content says so, and stores each piece once, compressed, by its digest.

Files change a little from day to day, so most of a file's pieces are known already. That cannot be seen before the
digest is there. It runs for 30 seconds.
"""

import hashlib
import random
import re
import zlib

import harness

MARK = re.compile(rb"[\x00-\x07][\x80-\xff][\x00-\x0f]")
LEAST, MOST = 512, 16_384


def pieces(content):
    """Cut after a mark, with a least and a greatest length."""
    start = 0
    while start < len(content):
        match = MARK.search(content, start + LEAST, start + MOST)
        end = match.end() if match else min(start + MOST, len(content))
        yield content[start:end]
        start = end


class Store:
    def __init__(self):
        self.known = {}

    def put(self, piece):
        """Its digest, and how many bytes are new in the store."""
        digest = hashlib.blake2b(piece, digest_size=16).digest()
        if digest in self.known:
            return digest, 0
        packed = zlib.compress(piece, 3)
        self.known[digest] = len(packed)
        return digest, len(packed)

    def forget(self, count):
        """The oldest."""
        for digest in [digest for digest, _ in zip(self.known, range(count))]:
            del self.known[digest]


def changed(rng, content):
    """A file on the next day: some bytes are other ones, some are gone, some are new."""
    parts, start = [], 0
    for place in sorted(rng.sample(range(len(content)), 6)):
        parts += [content[start:place], rng.randbytes(rng.randrange(400))]
        start = max(start, place + rng.randrange(400))
    return b"".join([*parts, content[start:]])


def text(rng, size):
    """Bytes of which some are more frequent than others."""
    return b"".join(rng.randbytes(rng.randrange(40)) + b"field value " for _ in range(size // 32))


def work(repeats):
    rng = random.Random(505)
    files, store, found = [text(rng, 300_000) for _ in range(8)], Store(), []
    for number in range(repeats):
        content = changed(rng, files[number % 8])
        if number % 24 < 8:
            content = text(rng, 300_000)
        files[number % 8] = content
        parts = [store.put(piece) for piece in pieces(content)]
        found.append([len(parts), sum(size for _, size in parts), sum(digest[0] for digest, _ in parts)])
        if len(store.known) > 20_000:
            store.forget(5000)
    return found


if __name__ == "__main__":
    harness.main(work, repeats=4000)
