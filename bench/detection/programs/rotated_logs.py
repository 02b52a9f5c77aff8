# SPDX-License-Identifier: Apache-2.0
"""Errors about a certain time in packed logs: to read one archive's first time stamp, all of it is unpacked."""

import bisect
import random
import zlib

import harness

CATEGORY = "API misuse"
KIND = "store"
ARCHIVES, LINES = 96, 1_500
LEVELS = [b"DEBUG", b"INFO", b"INFO", b"INFO", b"WARNING", b"ERROR"]
PARTS = [b"mailer", b"search", b"billing", b"upload", b"session"]


def archives(random_source):
    """Packed logs, oldest first; each line begins with the seconds since the start."""
    now, packed = 0, []
    for _ in range(ARCHIVES):
        lines = []
        for _ in range(LINES):
            now += random_source.randrange(5)
            level, part = random_source.choice(LEVELS), random_source.choice(PARTS)
            lines.append(b"%09d %s %s: request %d took %d ms" % (now, level, part, now * 37 % 9973, now % 83))
        packed.append(zlib.compress(b"\n".join(lines), 6))
    return packed, now


def begin(archive):
    text = zlib.decompress(archive)  # waste: store
    return int(text[:9])


def begin_fixed(archive):
    return int(zlib.decompressobj().decompress(archive, 9))


def find(packed, second, when):
    """The archive that was written to in that second."""
    return packed[bisect.bisect_right(packed, second, key=when) - 1]  # waste: store


def errors(archive, second):
    """How many there are near it."""
    lines = zlib.decompress(archive).splitlines()
    place = bisect.bisect_left(lines, b"%09d" % second)
    return sum(b" ERROR " in line for line in lines[max(place - 20, 0) : place + 20])


def work(repeats, when):
    random_source = random.Random(1997)
    packed, end = archives(random_source)
    found = []
    for _ in range(repeats):
        second = random_source.randrange(end)
        found.append(errors(find(packed, second, when), second))
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, begin), lambda n: work(n, begin_fixed), repeats=3_600)
