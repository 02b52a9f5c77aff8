# SPDX-License-Identifier: Apache-2.0
"""Everything at once for a long time: element loops in threads that come and go, garbage, libraries loaded and
unloaded, forks, timers, arrays mapped and unmapped. usage: soak.py SECONDS

Each result is checked. Prints a JSON object: what was done how often, and the resident memory after the first tenth and
at the end."""
import _ctypes
import ctypes
import ctypes.util
import gc
import json
import os
import signal
import sys
import threading
import time

import numpy

import watch_work

SECONDS = float(sys.argv[1])
until = time.monotonic() + SECONDS
done = dict.fromkeys(("threads", "loads", "collections", "forks", "alarms", "arrays"), 0)
expected = watch_work.element_loop(1, 100, 800)


def resident_mb():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE") / 1e6


def work():
    assert watch_work.element_loop(1, 100, 800) == expected


def threads_come_and_go():
    while time.monotonic() < until:
        some = [threading.Thread(target=work) for _ in range(4)]
        for thread in some:
            thread.start()
        for thread in some:
            thread.join()
        done["threads"] += len(some)


def load_and_collect():
    names = [name for name in map(ctypes.util.find_library, ("bz2", "lzma", "nsl")) if name]
    while time.monotonic() < until:
        for name in names:
            _ctypes.dlclose(ctypes.CDLL(name)._handle)
            done["loads"] += 1
        cycle = []
        cycle.append(cycle)
        del cycle
        gc.collect()
        done["collections"] += 1
        time.sleep(0.01)


def map_and_unmap():
    while time.monotonic() < until:
        array = numpy.ones(1 << 17)
        total = 0.0
        for i in range(0, len(array), 512):
            total += array[i]
        assert total == len(array) / 512
        done["arrays"] += 1


def fork():
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(17)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 17
    done["forks"] += 1


def count_alarm(number, frame):
    done["alarms"] += 1


signal.signal(signal.SIGALRM, count_alarm)
signal.setitimer(signal.ITIMER_REAL, 0.003, 0.003)
others = [threading.Thread(target=run) for run in (threads_come_and_go, load_and_collect, map_and_unmap)]
for thread in others:
    thread.start()
early_mb = None
while time.monotonic() < until:
    work()
    fork()
    if early_mb is None and time.monotonic() > until - 0.9 * SECONDS:
        early_mb = resident_mb()
    time.sleep(0.1)
for thread in others:
    thread.join()
signal.setitimer(signal.ITIMER_REAL, 0)
print(json.dumps({**done, "early_mb": early_mb, "late_mb": resident_mb()}))
