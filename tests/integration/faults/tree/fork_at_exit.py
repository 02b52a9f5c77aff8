# SPDX-License-Identifier: Apache-2.0
"""Forks while Python ends: in a handler of atexit, and both sides end once more."""
import atexit
import os
import threading
import time


def at_exit():
    child = os.fork()
    if child == 0:
        while time.thread_time() < 0.05:
            pass
        return
    print("child", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


atexit.register(at_exit)
atexit.register(at_exit)
thread = threading.Thread(target=time.sleep, args=(0.05,))
thread.start()
thread.join()
