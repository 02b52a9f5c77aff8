# SPDX-License-Identifier: Apache-2.0
"""A crash in another thread, reported with all threads."""
import ctypes
import faulthandler
import threading
import time

faulthandler.enable(all_threads=True)


def crash():
    while time.thread_time() < 0.2:
        pass
    ctypes.memset(16, 0, 1)


thread = threading.Thread(target=crash)
thread.start()
thread.join()
