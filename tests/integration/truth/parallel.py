# SPDX-License-Identifier: Apache-2.0
"""Four threads that run the same functions side by side, each with a share of the CPU time of its own.

Each thread of a free-threaded Python specialises a copy of the bytecode of its own: all of them have the same lines.

usage: parallel.py SECONDS        of CPU time in all four
"""

import hashlib
import os
import sys
import threading
import time

from measure import Phases, tell

DATA = bytes(range(256)) * 4096  # 1 MiB
SHARES = {"tenth": 0.1, "fifth": 0.2, "third": 0.3, "rest": 0.4}
told = {}
gate = threading.Barrier(len(SHARES))


def count(x, rounds):
    for _ in range(rounds):
        x = (x * 75 + 74) % 65537  # once
    for _ in range(3 * rounds):
        x = (x * 75 + 74) % 65537  # three times
    return x


def items(rounds):
    """A generator that begins in one thread and goes on in the others."""
    x = 1
    while True:
        for _ in range(rounds):
            x = (x * 75 + 74) % 65537  # generated
        yield x


def hashed():
    return hashlib.sha256(DATA).digest()  # hashed


def read(zeros):
    return os.read(zeros, 1 << 20)  # read


def work(seconds, generator, zeros):
    phases = Phases()
    while phases.total() < seconds * 1e9:
        phases.begin()
        count(1, 10_000)
        phases.end("count")
        phases.begin()
        next(generator)
        phases.end("generated")
        while phases.behind("hashed", 0.2):
            phases.begin()
            hashed()
            phases.end("hashed")
        while phases.behind("read", 0.1):
            phases.begin()
            read(zeros)
            phases.end("read")
    return phases.seconds()


def body(name, seconds, generator, zeros):
    gate.wait()
    told[name] = {"seconds": work(seconds, generator, zeros), "tid": threading.get_native_id(), "cpu_s": time.thread_time()}


def main(seconds):
    zeros = os.open("/dev/zero", os.O_RDONLY)
    generators = [items(10_000) for _ in SHARES]
    for generator in generators:
        next(generator)
    threads = [threading.Thread(target=body, args=(name, seconds * share, generator, zeros), name=name)
               for (name, share), generator in zip(SHARES.items(), generators)]
    begun = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tell(threads=told, wall_s=time.monotonic() - begun, gil=sys._is_gil_enabled())


main(float(sys.argv[1]))
