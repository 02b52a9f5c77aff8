# SPDX-License-Identifier: Apache-2.0
"""Parent and children use their alternate stacks at the same time: thousands of signals a second on either side.

Arguments: `raw` (system call) or `fork`, seconds."""

import ctypes
import os
import signal
import sys
import time

SYS_FORK = 57
SA_ONSTACK = 0x08000000


class Action(ctypes.Structure):
    _fields_ = [("handler", ctypes.c_void_p), ("mask", ctypes.c_ulong * 16), ("flags", ctypes.c_int), ("restorer", ctypes.c_void_p)]


def compute(seconds):
    end, total = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        for i in range(1000):
            total += i


def child(seconds):
    libc, action = ctypes.CDLL(None), Action()
    signal.signal(signal.SIGALRM, lambda *_: None)
    libc.sigaction(signal.SIGALRM, None, ctypes.byref(action))
    assert action.flags & SA_ONSTACK  # as CPython sets its handlers
    signal.setitimer(signal.ITIMER_REAL, 0.0002, 0.0002)
    compute(seconds)
    os._exit(0)


def main(kind, seconds):
    fork = (lambda: ctypes.CDLL(None).syscall(SYS_FORK)) if kind == "raw" else os.fork
    pids = []
    for _ in range(2):
        pid = fork()
        if pid == 0:
            child(seconds)
        pids.append(pid)
    compute(seconds)
    print([os.waitpid(pid, 0)[1] for pid in pids])


main(sys.argv[1], float(sys.argv[2]))
