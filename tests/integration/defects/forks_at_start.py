# SPDX-License-Identifier: Apache-2.0
"""Forks by the system call while the profiler looks symbols up, which takes memory of the C library's. Each child forks
in turn, for which the C library wants its locks. Prints how many children did not end within seconds."""

import ctypes
import os
import time

SYS_FORK = 57
CHILDREN, PATIENCE_S = 60, 3
libc = ctypes.CDLL(None)


def waits_for_a_grandchild():
    grandchild = os.fork()
    if grandchild == 0:
        os._exit(0)
    os.waitpid(grandchild, 0)
    os._exit(0)


def ends(pid):
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        if os.waitpid(pid, os.WNOHANG)[0]:
            return True
        time.sleep(0.001)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    return False


stuck = 0
for _ in range(CHILDREN):
    pid = libc.syscall(SYS_FORK)
    if pid == 0:
        waits_for_a_grandchild()
    stuck += not ends(pid)
print(stuck)
