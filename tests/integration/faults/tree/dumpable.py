# SPDX-License-Identifier: Apache-2.0
"""A process that others may not look into: its own /proc belongs to root."""
import ctypes
import os
import threading
import time

print(ctypes.CDLL(None).prctl(4, 0, 0, 0, 0))
thread = threading.Thread(target=lambda: sum(range(2_000_000)))
thread.start()
while time.thread_time() < 0.3:
    bytes(100_000)
thread.join()
if os.fork() == 0:
    while time.thread_time() < 0.1:
        pass
    os._exit(9)
print(os.waitstatus_to_exitcode(os.wait()[1]), ctypes.CDLL(None).prctl(3))
