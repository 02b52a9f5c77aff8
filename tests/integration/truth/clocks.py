# SPDX-License-Identifier: Apache-2.0
"""What a whole process used, by its own threads' clocks: Python, native and system time, in the main thread and in
others, also in threads that end early and in one made by C.

usage: clocks.py SECONDS
"""

import hashlib
import os
import sys
import threading
import time

from measure import tell

DATA = bytes(1 << 16)
ended = []


def work(seconds):
    zero = os.open("/dev/zero", os.O_RDONLY)
    x = 1
    begun = time.thread_time()
    while time.thread_time() - begun < seconds:
        hashlib.sha256(DATA)
        for _ in range(1000):
            x = (x * 75 + 74) % 65537
        os.read(zero, 1 << 16)
    os.close(zero)


def in_thread(seconds):
    work(seconds)
    ended.append(time.thread_time())


def main(seconds):
    long = threading.Thread(target=in_thread, args=(seconds / 4,))
    long.start()
    for _ in range(25):
        short = threading.Thread(target=in_thread, args=(seconds / 100,))
        short.start()
        short.join()
    long.join()
    work(seconds / 2)
    tell(cpu_s=sum(ended) + time.thread_time(), threads=len(ended) + 1)


main(float(sys.argv[1]))
