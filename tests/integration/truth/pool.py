# SPDX-License-Identifier: Apache-2.0
"""Lines that let the pool of pool.c compute; prints the CPU time of the pool's threads for each. Usage: pool.py LIBRARY
KIND SECONDS, where KIND is waiting (the line sleeps meanwhile), part (it computes too), bystander (another thread waits
for a lock of Python's meanwhile) or alone (nobody waits)."""

import ctypes
import json
import sys
import threading
import time

library = ctypes.CDLL(sys.argv[1])
kind, seconds = sys.argv[2], float(sys.argv[3])
run = library.pool_run
run.argtypes, run.restype = [ctypes.c_ulong, ctypes.c_bool], ctypes.c_double
library.pool_start.argtypes, library.pool_wait.restype = [ctypes.c_ulong], ctypes.c_double
library.pool_begin(2 if kind == "waiting" else 1)
takes_part = kind == "part"
# About 7 and 20 ms: longer and shorter than the time between two looks of the profiler.
ROUNDS = 3_000_000
worked = {"one": 0, "three": 0, "alone": 0}


def alternate():
    while sum(worked.values()) < seconds:
        worked["one"] += run(ROUNDS, takes_part)  # one
        worked["three"] += run(3 * ROUNDS, takes_part)  # three


if kind == "bystander":
    thread = threading.Thread(target=alternate)
    thread.start()
    thread.join()  # bystander
elif kind == "alone":
    while worked["alone"] < seconds:
        library.pool_start(100 * ROUNDS)
        until = time.thread_time() + 0.2
        while time.thread_time() < until:
            pass  # busy
        time.sleep(0.6)  # asleep
        worked["alone"] += library.pool_wait()  # alone
else:
    alternate()
print(json.dumps({"worked_s": worked}))
