# SPDX-License-Identifier: Apache-2.0
"""threads_that_vanish.py N SECONDS: N threads end by the system call exit(2), which runs nothing of the C library."""

import _thread
import ctypes
import json
import sys
import time

libc = ctypes.CDLL(None)
gone = []


def vanish():
    began = time.thread_time()
    while time.thread_time() - began < 0.05:
        pass
    gone.append(time.thread_time())
    libc.syscall(60, 0)


for _ in range(int(sys.argv[1])):
    _thread.start_new_thread(vanish, ())
time.sleep(float(sys.argv[2]))
print(json.dumps({"gone": len(gone), "cpu_s": sum(gone)}))
