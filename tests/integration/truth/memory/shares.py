# SPDX-License-Identifier: Apache-2.0
"""Python objects and native buffers by turns, of known sizes.

usage: shares.py turns|small|medium|large|kept COUNT

Sizes are those that reach the allocator, and such that it sets aside hardly more: multiples of 16 up to 512, which
the interpreter's own allocator serves, and powers of two from 2 KiB, whatever malloc() is. An array is a buffer and an
object of OBJECT bytes. Nothing else is allocated in the loops: tuples come from the interpreter's free lists. Prints
the bytes that each marked line allocates, {mark: [python, native]}.
"""

import collections
import itertools
import json
import sys

import numpy as np

BYTES_HEADER = sys.getsizeof(b"")
OBJECT = (np.ndarray.__basicsize__ + 15) // 16 * 16
truth = collections.defaultdict(lambda: [0, 0])


def python(mark, size, count=1):
    truth[mark][0] += size * count


def native(mark, size, count=1):
    truth[mark][0] += OBJECT * count
    truth[mark][1] += size * count


def turns(count):
    """Each line is of one kind."""
    length = 4_096 - BYTES_HEADER
    for _ in itertools.repeat(None, count):
        a = bytes(length)  # OBJECTS
        b = np.empty(1_024)  # BUFFERS
    python("OBJECTS", 4_096, count)
    native("BUFFERS", 8_192, count)


def small(count):
    size = 96 - BYTES_HEADER
    for _ in itertools.repeat(None, count):
        a = bytes(size), bytes(size), bytes(size), bytes(size), bytes(size), bytes(size), np.empty(256)  # SMALL
    python("SMALL", 96, 6 * count)
    native("SMALL", 2_048, count)


def medium(count):
    length = 4_096 - BYTES_HEADER
    for _ in itertools.repeat(None, count):
        a = [bytes(length), bytearray(4_095), [0] * 512, bytes(length)]; b = np.empty(4_096)  # MEDIUM
    python("MEDIUM", 4 * 4_096 + 64 + 16, count)  # with the bytearray and the items of [0]
    native("MEDIUM", 32_768, count)


def large(count):
    for _ in itertools.repeat(None, count):
        a = bytearray((1 << 20) - 1), [0] * (1 << 18), np.empty(1 << 17)  # LARGE
    python("LARGE", 3 << 20, count)
    native("LARGE", 1 << 20, count)


def kept(count):
    """What stays, to the end: so it is the peak."""
    length = 8_192 - BYTES_HEADER
    stays = [(bytes(length), np.empty(512)) for _ in itertools.repeat(None, count)]  # KEPT
    python("KEPT", 8_192 + 64 + 8, count)  # with the tuple and its place in the list
    native("KEPT", 4_096, count)
    return stays


shapes = {"turns": turns, "small": small, "medium": medium, "large": large, "kept": kept}
stays = shapes[sys.argv[1]](int(sys.argv[2]))
print(json.dumps(truth))
