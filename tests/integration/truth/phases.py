# SPDX-License-Identifier: Apache-2.0
"""Three phases of known length and content: CPU time, sleep, copies.

usage: phases.py SECONDS
"""

import json
import sys
import time


def busy(until):
    x = 1
    while time.monotonic() < until:
        for _ in range(1000):
            x = (x * 75 + 74) % 65537  # busy


def idle(until):
    time.sleep(until - time.monotonic())  # idle


def copies(until):
    copied, source = 0, bytearray(4 << 20)
    while time.monotonic() < until:
        copied += len(bytes(source))  # copy
        time.sleep(0.01)  # pause
    return copied


length_s = float(sys.argv[1])
told = {}
for phase in (busy, idle, copies):
    begun, cpu_s = time.time(), time.thread_time()
    result = phase(time.monotonic() + length_s)
    told[phase.__name__] = {"from_s": begun, "to_s": time.time(), "cpu_s": time.thread_time() - cpu_s, "result": result}
print(json.dumps(told))
