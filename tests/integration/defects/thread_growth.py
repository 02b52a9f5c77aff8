# SPDX-License-Identifier: Apache-2.0
"""thread_growth.py N: makes N threads one after the other; what glibc says has grown by that, and when it was."""

import _thread
import ctypes
import json
import sys
import time


class Mallinfo2(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()]


libc = ctypes.CDLL(None)
libc.mallinfo2.restype = Mallinfo2


def in_use():
    info = libc.mallinfo2()
    return info.uordblks + info.hblkhd


def wave(n):
    lock = _thread.allocate_lock()
    for _ in range(n):
        lock.acquire()
        _thread.start_new_thread(lock.release, ())
        with lock:
            pass


wave(100)
time.sleep(0.3)
before_ns, before = time.time_ns(), in_use()
wave(int(sys.argv[1]))
time.sleep(0.3)
print(json.dumps({"before_ns": before_ns, "grown": in_use() - before}))
