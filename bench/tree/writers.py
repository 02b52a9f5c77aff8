# SPDX-License-Identifier: Apache-2.0
"""The program of run.py: N children at once, each of which burns a known CPU time in a function of its own name and
prints what the kernel says it took.

usage: writers.py N SECONDS
"""

import os
import sys
import time


def burn(seconds):
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


def main():
    n, seconds = int(sys.argv[1]), float(sys.argv[2])
    begin, end = os.pipe()
    for _ in range(n):
        if os.fork() == 0:
            os.read(begin, 1)  # all go at once
            burn(seconds)
            os.write(1, f"{os.getpid()} {time.thread_time()}\n".encode())
            os._exit(0)
    os.write(end, b"x" * n)
    for _ in range(n):
        os.wait()


if __name__ == "__main__":
    main()
