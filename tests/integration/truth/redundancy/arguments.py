# SPDX-License-Identifier: Apache-2.0
"""Calls of native functions, of libraries and of the interpreter's own, whose arguments repeat or do not, by lines.

usage: arguments.py SECONDS_OF_EACH
"""
import hashlib
import json
import random
import sys
import time
import zlib

SECONDS = float(sys.argv[1])
DATA = bytes(range(256)) * 3
TWO = [DATA, DATA[::-1]]
ITEMS = [(i * 7919) % 1009 for i in range(1000)]
GENERATOR = random.Random(1)
calls = {}


def repeat(body):
    """body(i) for SECONDS."""
    until, i = time.perf_counter() + SECONDS, 0
    while time.perf_counter() < until:
        for _ in range(20):
            body(i)
            i += 1
    calls[body.__name__] = i


def library_same(i):
    return zlib.compress(DATA)  # library same


def library_other(i):
    return zlib.compress(DATA + i.to_bytes(4, "little"))  # library other


def library_two(i):
    return zlib.compress(TWO[i % 2])  # library two


def library_mutated(i):
    BUFFER[i % len(BUFFER)] = i >> 8 & 255
    BUFFER[0] = i & 255
    return zlib.compress(BUFFER)  # library mutated


BUFFER = bytearray(DATA)


def own_same(i):
    return sorted(ITEMS)  # own same


def own_other(i):
    ITEMS[0] = i
    return sorted(ITEMS)  # own other


def library_same_result(i):
    return zlib.decompress(PACKED + i.to_bytes(8, "little"))  # library same result


PACKED = zlib.compress(DATA * 20)


def own_random(i):
    return GENERATOR.getrandbits(24000)  # own random


def own_range(i):
    for _ in range(200):
        for _ in range(3):  # own range
            pass


PARTS = dict.fromkeys("abc", 1)


def own_view(i):
    for _ in range(200):
        for _ in PARTS.values():  # own view
            pass


def library_effect(i):
    return DIGEST.update(DATA)  # library effect


DIGEST = hashlib.sha256()
for body in (library_same, library_other, library_two, library_mutated, library_effect, own_same, own_other, library_same_result,
             own_random, own_range, own_view):
    repeat(body)
print(json.dumps({"calls": calls}))
