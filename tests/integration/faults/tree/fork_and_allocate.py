# SPDX-License-Identifier: Apache-2.0
"""Threads allocate and free all the time, blocks of all sizes, while another forks; the children allocate too."""
import os
import threading
import warnings

warnings.simplefilter("ignore", DeprecationWarning)
statuses = []
done = []


def allocate():
    kept = []
    while not done:
        kept.append([bytearray(size) for size in (10, 1000, 40_000, 300_000)])
        if len(kept) > 20:
            kept.clear()


def fork():
    for number in range(25):
        child = os.fork()
        if child == 0:
            parts = [bytearray(50_000) for _ in range(50)]
            os._exit(len(parts) + number)
        statuses.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


threads = [threading.Thread(target=allocate) for _ in range(3)]
forking = threading.Thread(target=fork)
for thread in [*threads, forking]:
    thread.start()
forking.join()
done.append(1)
for thread in threads:
    thread.join()
print(statuses)
