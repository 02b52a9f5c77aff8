# SPDX-License-Identifier: Apache-2.0
"""Libraries that come and go at one place: unloading.py FOLDER ROUNDS STRETCH_S NAME...

Each is loaded, called for a stretch of CPU time and unloaded, in turn. Prints the places and the CPU time of each."""

import ctypes
import json
import sys
import time

folder, rounds, stretch_s, names = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4:]
dlclose = ctypes.CDLL(None).dlclose
dlclose.argtypes = [ctypes.c_void_p]
cpu_s, places = dict.fromkeys(names, 0.0), {name: set() for name in names}


def call(name):
    library = ctypes.CDLL(f"{folder}/lib{name}.so")
    work = getattr(library, name)
    work.argtypes = [ctypes.c_long]
    places[name].add(ctypes.cast(work, ctypes.c_void_p).value)
    begin = time.thread_time()
    while time.thread_time() - begin < stretch_s:
        work(100_000)
    cpu_s[name] += time.thread_time() - begin
    assert dlclose(library._handle) == 0


for _ in range(rounds):
    for each in names:
        call(each)
print(json.dumps({"cpu_s": cpu_s, "places": sorted(set.intersection(*places.values()))}))
