# SPDX-License-Identifier: Apache-2.0
"""One loop that spends a known part of its CPU time in Python and the rest in a native call or in the kernel.

usage: split.py KIND PERCENT SECONDS        PERCENT of the time goes to what KIND calls
"""

import ctypes
import functools
import hashlib
import os
import random
import sys
import zlib

from measure import Phases, tell

STEPS = 25_000  # of the Python part in the mean: 1 to 2 ms
DATA = bytes(range(256)) * 4096  # 1 MiB

KINDS = {
    # name: (call, calls of one chunk in the mean, where its time belongs)
    # not compress(): it maps a large block in each call, whose page faults are the kernel's
    "zlib": (lambda: functools.partial(zlib.crc32, os.urandom(1 << 20)), 4, "native"),
    "hashlib": (lambda: functools.partial(hashlib.sha256, DATA), 2, "native"),
    "ctypes": (lambda: functools.partial(ctypes.CDLL("libz.so.1").adler32, 1, DATA, len(DATA)), 16, "native"),
    "ctypes-gil": (lambda: functools.partial(ctypes.PyDLL("libz.so.1").adler32, 1, DATA, len(DATA)), 16, "native"),
    "builtin": (lambda: functools.partial(DATA.count, b"\x01\x03"), 2, "native"),
    "read": (lambda: functools.partial(os.read, os.open("/dev/zero", os.O_RDONLY), 1 << 20), 64, "system"),
}


def mix(call, calls, where, share, seconds):
    """Chunks of random lengths: equal ones may fall in step with a clock that ticks every 4 ms."""
    phases, choose = Phases(), random.Random(1)
    x = 1
    while phases.total() < seconds * 1e9:
        while not phases.behind(where, share):
            steps = choose.randrange(STEPS // 2, 3 * STEPS // 2)
            phases.begin()
            for _ in range(steps):
                x = (x * 75 + 74) % 65537
            phases.end("python")
        while phases.behind(where, share):
            several = choose.randrange(1, 2 * calls)
            phases.begin()
            for _ in range(several):
                call()
            phases.end(where)
    return phases


def main(kind, share, seconds):
    make, calls, where = KINDS[kind]
    phases = mix(make(), calls, where, share, seconds)
    tell(seconds=phases.seconds(), share=phases.ns[where] / phases.total(), where=where)


main(sys.argv[1], int(sys.argv[2]) / 100, float(sys.argv[3]))
