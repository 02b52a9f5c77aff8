# SPDX-License-Identifier: Apache-2.0
"""Sixty-four processes at once, half of them forked, half of them started; each prints what it did."""
import json
import os
import subprocess
import sys
import time

HALF, ROUNDS, SIZE = 32, 40, 3_000_000


def work():
    try:
        from pieprof import loop
    except ImportError:
        loop = iter
    rounds = 0
    for _ in loop(range(ROUNDS)):
        rounds += len(bytes(SIZE)) // SIZE
        time.sleep(0.05)
    os.write(1, f"{rounds} {time.thread_time()}\n".encode())


def fork():
    child = os.fork()
    if child == 0:
        work()
        os._exit(0)
    return child


def crowd():
    children = [fork() for _ in range(HALF)]
    started = [subprocess.Popen([sys.executable, __file__, "one"]) for _ in range(HALF)]
    statuses = [process.wait() for process in started] + [os.waitpid(child, 0)[1] for child in children]
    print(json.dumps(statuses))


if len(sys.argv) > 1:
    work()
else:
    crowd()
