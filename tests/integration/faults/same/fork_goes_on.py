# SPDX-License-Identifier: Apache-2.0
"""Both sides of a fork go on: threads, exceptions, atexit and their own statuses."""
import atexit
import os
import sys
import threading
import time

child = os.fork()
who = "parent" if child else "child"
while time.thread_time() < 0.2:
    pass
thread = threading.Thread(target=time.sleep, args=(0.05,))
thread.start()
thread.join()
if child:
    print("child ended with", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
atexit.register(print, who, "at exit")
sys.exit(0 if child else 21)
