# SPDX-License-Identifier: Apache-2.0
"""Calls one kernel without call frame information for a while: blind.py FOLDER KERNEL SECONDS [ctypes]."""

import ctypes
import json
import sys
import time

folder, name, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
sys.path.insert(0, folder)
if sys.argv[4:] == ["ctypes"]:
    kernel = getattr(ctypes.CDLL(folder + "/kernels.so"), "kernel_" + name)
    kernel.argtypes, kernel.restype = [ctypes.c_long], None
else:
    import kernels
    kernel = getattr(kernels, name)


def work():
    while time.thread_time() < seconds:
        kernel(4_000_000)


work()
print(json.dumps({"cpu_s": time.thread_time()}))
