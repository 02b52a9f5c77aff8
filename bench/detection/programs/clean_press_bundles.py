# SPDX-License-Identifier: Apache-2.0
"""Nightly backup of a newsroom: articles are packed, encrypted with a key stream, signed, and read back as a test."""

import hashlib
import hmac
import random
import struct
import zlib

import harness

HEAD = struct.Struct("<4sIII16s")
MAGIC = b"PRS1"
BLOCK = 64
PHRASES = ("the council decided", "in the afternoon", "according to the mayor", "a fire broke out", "prices rose by",
           "the home team lost", "nobody was hurt", "the bridge stays closed", "voters were asked", "rain is expected")


def agency(rng, count):
    """Paragraphs from which the articles of a newsroom are made."""
    found = []
    for _ in range(count):
        starts, ends = rng.choices(PHRASES, k=14), rng.choices(PHRASES, k=14)
        found.append("\n".join(f"{start} {rng.randrange(10_000)}, {end}." for start, end in zip(starts, ends)))
    return found


def article(rng, paragraphs):
    return "\n\n".join(rng.choices(paragraphs, k=rng.randrange(12, 40))).encode()


def key_stream(key, nonce, size):
    """An extendable hash gives as many bytes as are needed."""
    return hashlib.shake_256(key + nonce).digest(size)


def crypt(data, key, nonce):
    stream = int.from_bytes(key_stream(key, nonce, len(data)), "little")
    return (int.from_bytes(data, "little") ^ stream).to_bytes(len(data), "little")


class Bundle:
    def __init__(self, key):
        self.key = key
        self.parts = []

    def add(self, number, text):
        packed = zlib.compress(text, 6)
        nonce = struct.pack("<Q", number)
        body = crypt(packed, self.key, nonce)
        seal = hmac.digest(self.key, nonce + body, "sha256")[:16]
        self.parts += [HEAD.pack(MAGIC, number, len(body), len(text), seal), body]

    def written(self):
        return b"".join(self.parts)


class Damaged(ValueError):
    pass


def read(data, key):
    """Number and text of each article."""
    view, at = memoryview(data), 0
    while at < len(view):
        magic, number, packed_size, size, seal = HEAD.unpack_from(view, at)
        at += HEAD.size
        body = bytes(view[at:at + packed_size])
        at += packed_size
        nonce = struct.pack("<Q", number)
        if magic != MAGIC or not hmac.compare_digest(hmac.digest(key, nonce + body, "sha256")[:16], seal):
            raise Damaged(number)
        text = zlib.decompress(crypt(body, key, nonce), bufsize=size)
        yield number, text


def night(rng, number, paragraphs):
    key = hashlib.scrypt(b"night %d" % number, salt=b"newsroom", n=256, r=8, p=1, dklen=32)
    bundle, texts = Bundle(key), []
    for article_number in range(40):
        texts.append(article(rng, paragraphs))
        bundle.add(article_number, texts[-1])
    data = bundle.written()
    same = sum(text == texts[at] for at, text in read(data, key))
    return [len(data), same, zlib.crc32(data) % 65521, sum(map(len, texts))]


def work(nights):
    rng = random.Random(634)
    paragraphs = agency(rng, 3000)
    return [night(rng, number, paragraphs) for number in range(nights)]


if __name__ == "__main__":
    harness.main(work, repeats=330)
