# SPDX-License-Identifier: Apache-2.0
"""Calls work() of native_lines.c in each of the libraries for as long; prints the CPU time of each of its lines."""

import ctypes
import json
import sys
import time

ROUNDS = 1_000_000
cpu_s = {}
for path in sys.argv[2:]:
    work = ctypes.CDLL(path).work
    work.argtypes = [ctypes.c_ulong, ctypes.c_ulong]
    lines = cpu_s[path] = {"one": 0, "three": 0}
    while sum(lines.values()) < float(sys.argv[1]):
        for mark, rounds in (("one", (ROUNDS, 0)), ("three", (0, 3 * ROUNDS))):
            before = time.thread_time()
            work(*rounds)
            lines[mark] += time.thread_time() - before
print(json.dumps({"cpu_s": cpu_s}))
