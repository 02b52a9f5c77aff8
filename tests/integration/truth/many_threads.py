# SPDX-License-Identifier: Apache-2.0
"""Very many threads, all at once or one after the other, and what CPU time each took by its own account.

usage: many_threads.py at_once|in_turn|asleep THREADS SECONDS
"""

import sys
import threading
import time

from measure import tell

cpu_s = {}
asleep_s = {}


def work(seconds, barrier):
    if barrier:
        barrier.wait()
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        for _ in range(200):
            pass
    cpu_s[threading.get_native_id()] = time.thread_time()


def sleep(seconds, barrier):
    barrier.wait()
    begun = time.perf_counter()
    time.sleep(seconds)  # asleep
    asleep_s[threading.get_native_id()] = time.perf_counter() - begun


def main(kind, n, seconds):
    threading.stack_size(256 * 1024)
    barrier = None if kind == "in_turn" else threading.Barrier(n + 1)
    threads = [threading.Thread(target=sleep if kind == "asleep" else work, args=(seconds, barrier)) for _ in range(n)]
    for thread in threads:
        thread.start()
        if kind == "in_turn":
            thread.join()
    if barrier:
        time.sleep(seconds if kind == "asleep" else 0)  # each is looked at more than once while it stands at the barrier
        barrier.wait()
    for thread in threads:
        thread.join()
    tell(cpu_s=cpu_s, asleep_s=asleep_s)


main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
