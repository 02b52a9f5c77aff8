# SPDX-License-Identifier: Apache-2.0
"""short_threads.py WAVES [BUSY]: WAVES times twenty threads of a tenth of a millisecond, then one of BUSY CPU seconds.

Prints what a thread cost, memory on the way, and what the last thread ran."""

import json
import sys
import threading
import time

waves = int(sys.argv[1])
busy_s = float(sys.argv[2]) if len(sys.argv) > 2 else 0


def resident_mb():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 1e6


def wave():
    threads = [threading.Thread(target=lambda: sum(range(3000))) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def late_worker():
    began = time.thread_time()
    while time.thread_time() - began < busy_s:
        pass


for _ in range(25):
    wave()
resident = []
cpu = time.process_time()
for part in range(4):
    for _ in range(waves // 4):
        wave()
    resident.append(resident_mb())
us = (time.process_time() - cpu) / (waves // 4 * 80) * 1e6
if busy_s:
    last = threading.Thread(target=late_worker, name="last")
    last.start()
    last.join()
print(json.dumps({"threads": 500 + waves // 4 * 80 + bool(busy_s), "us": us, "resident_mb": resident}))
