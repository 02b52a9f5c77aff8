# SPDX-License-Identifier: Apache-2.0
"""Lines that wait for a known time: in a thread of its own, and in the main thread. Lines are found by their marks.

usage: waiting.py SECONDS
"""

import os
import select
import subprocess
import sys
import threading
import time

from measure import tell

waited = {}
tids = {}


def sleeper(seconds):
    begun = time.perf_counter()
    time.sleep(seconds)  # thread-sleep
    waited["thread-sleep"] = time.perf_counter() - begun
    tids["sleeper"] = threading.get_native_id()


def locked(lock, seconds):
    begun = time.perf_counter()
    lock.acquire(timeout=seconds)  # thread-lock
    waited["thread-lock"] = time.perf_counter() - begun
    tids["locked"] = threading.get_native_id()


def short_sleeps(seconds):
    begun = time.perf_counter()
    while time.perf_counter() - begun < seconds:
        time.sleep(0.005)  # many-sleeps
    waited["many-sleeps"] = time.perf_counter() - begun


def waiting_for_a_pipe(seconds):
    reading, writing = os.pipe()
    begun = time.perf_counter()
    select.select([reading], [], [], seconds)  # select
    waited["select"] = time.perf_counter() - begun
    os.close(reading)
    os.close(writing)


def waiting_for_a_child(seconds):
    child = subprocess.Popen(["/bin/sleep", str(seconds)])
    begun = time.perf_counter()
    child.wait()  # child
    waited["child"] = time.perf_counter() - begun


def main(seconds):
    lock = threading.Lock()
    lock.acquire()
    threads = [threading.Thread(target=sleeper, args=(2 * seconds,)),
               threading.Thread(target=locked, args=(lock, 2 * seconds))]
    for thread in threads:
        thread.start()
    short_sleeps(seconds)
    waiting_for_a_pipe(seconds)
    waiting_for_a_child(seconds)
    for thread in threads:
        thread.join()
    tell(waited=waited, tids=tids)


main(float(sys.argv[1]))
