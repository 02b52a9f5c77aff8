# SPDX-License-Identifier: Apache-2.0
"""Four threads with known shares of the CPU time: 10, 20, 30 and 40 percent.

usage: threads.py python|native SECONDS     of CPU time in all four; native work gives up the GIL
"""

import hashlib
import sys
import threading
import time

from measure import tell

DATA = bytes(range(256)) * 256
SHARES = {"tenth": 0.1, "fifth": 0.2, "third": 0.3, "rest": 0.4}
used = {}


def python_work(x):
    for _ in range(20_000):
        x = (x * 75 + 74) % 65537
    return x


def native_work(x):
    for _ in range(20):
        hashlib.sha256(DATA)
    return x


def until(work, cpu_seconds):
    x = 1
    while time.thread_time() < cpu_seconds:
        x = work(x)


def tenth(work, cpu_seconds):
    until(work, cpu_seconds)


def fifth(work, cpu_seconds):
    until(work, cpu_seconds)


def third(work, cpu_seconds):
    until(work, cpu_seconds)


def rest(work, cpu_seconds):
    until(work, cpu_seconds)


def body(target, work, cpu_seconds):
    target(work, cpu_seconds)
    name = target.__name__
    used[name] = {"tid": threading.get_native_id(), "cpu_s": time.thread_time(), "share": SHARES[name]}


def main(work, seconds):
    targets = [tenth, fifth, third, rest]
    threads = [threading.Thread(target=body, args=(t, work, seconds * SHARES[t.__name__]), name=t.__name__)
               for t in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tell(threads=used)


main({"python": python_work, "native": native_work}[sys.argv[1]], float(sys.argv[2]))
