# SPDX-License-Identifier: Apache-2.0
"""One thread's memory accesses are watched, another one forks: which descriptors does a child have that its parent has
not opened?

Arguments: seconds, "fork" or "raw" (the system call itself, whose child nobody has prepared; with the GIL held)."""

import ctypes
import os
import sys
import threading
import time

import numpy


def foreign_descriptors():
    found = []
    for name in os.listdir("/proc/self/fd"):
        try:
            path = os.readlink(f"/proc/self/fd/{name}")
        except FileNotFoundError:
            continue  # the list's own
        if path.startswith("anon_inode:") or path.startswith("pidfd:"):
            found.append(path)
    return found


stop = threading.Event()


def compute():
    """Native loops, most of the time without the GIL."""
    columns = numpy.arange(65536, dtype=float).reshape(256, 256)
    sums = numpy.zeros((256, 256))
    while not stop.is_set():
        for _ in range(50):
            numpy.add(columns.T, sums, out=sums)
            numpy.multiply(sums, 0.5, out=sums)


worker = threading.Thread(target=compute)
worker.start()
end, forks, leaks = time.monotonic() + float(sys.argv[1]), 0, []
while time.monotonic() < end:
    read, write = os.pipe()
    pid = os.fork() if sys.argv[2] == "fork" else ctypes.PyDLL(None).syscall(57)
    if pid == 0:
        os.write(write, " ".join(foreign_descriptors()).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        leaks += pipe.read().split()
    os.waitpid(pid, 0)
    forks += 1
stop.set()
worker.join()
print(forks, *leaks)
