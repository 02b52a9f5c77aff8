# SPDX-License-Identifier: Apache-2.0
"""Garbage collections that begin at two lines, by themselves and on demand, and the CPU time of each by the
interpreter's own callbacks.

usage: collections_of_garbage.py SECONDS
"""

import gc
import sys
import time

from measure import tell

spent = {"allocating": 0, "on-demand": 0}
generations = {mark: [0, 0, 0] for mark in spent}


class Node:
    pass


def on_collection(phase, info):
    global collecting_since
    if phase == "start":
        collecting_since = time.thread_time()
    else:
        seconds = time.thread_time() - collecting_since
        spent[where] += seconds
        generations[where][info["generation"]] += seconds


def allocate(count):
    return [[] for _ in range(count)]  # allocating


def main(seconds):
    global where
    until = time.perf_counter() + 10 * seconds
    kept = allocate(400000)
    while min(spent.values()) < seconds / 2 and time.perf_counter() < until:
        where = "allocating"
        allocate(20000)
        where = "on-demand"
        if spent["on-demand"] < seconds / 2:
            gc.collect()  # on-demand
    tell(spent=spent, generations=generations, kept=len(kept))


where = "allocating"
gc.callbacks.append(on_collection)
main(float(sys.argv[1]))
