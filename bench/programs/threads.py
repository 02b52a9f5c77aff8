# SPDX-License-Identifier: Apache-2.0
"""Threads that pass work through queues and compete for the GIL; part of the work gives it up."""

import hashlib
import queue
import threading

from harness import run

BLOCK = bytes(20_000)


def worker(tasks, results):
    while (task := tasks.get()) is not None:
        x = task
        for _ in range(2000):
            x = (x * 75 + 74) % 65537
        results.put(hashlib.sha256(BLOCK).digest()[0] ^ x)


def work(repeats):
    tasks, results = queue.Queue(64), queue.Queue()
    threads = [threading.Thread(target=worker, args=(tasks, results)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for i in range(repeats):
        tasks.put(i)
    for _ in threads:
        tasks.put(None)
    for thread in threads:
        thread.join()
    return results.qsize()


run(work, 34_000)
