# SPDX-License-Identifier: Apache-2.0
"""The kernel that loads one word again and again, while another library comes and goes each millisecond:
loads_while_unloading.py FOLDER LIBRARY SECONDS. Prints how often it went."""

import ctypes
import json
import sys
import time

sys.path.insert(0, sys.argv[1])
import kernels  # noqa: E402  (built by the test)

libc = ctypes.CDLL(None)
libc.dlclose.argtypes = [ctypes.c_void_p]


def work(seconds):
    unloads = 0
    while time.thread_time() < seconds:
        for _ in range(50):
            kernels.loads(500)  # loads
        assert libc.dlclose(ctypes.CDLL(sys.argv[2])._handle) == 0
        unloads += 1
    return unloads


print(json.dumps({"unloads": work(float(sys.argv[3]))}))
