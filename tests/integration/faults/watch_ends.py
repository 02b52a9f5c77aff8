# SPDX-License-Identifier: Apache-2.0
"""Ends while memory is watched in other threads. usage: watch_ends.py exit|_exit|abort|kill|last"""
import os
import signal
import sys
import threading

import watch_work

how = sys.argv[1]
for _ in range(3):
    threading.Thread(target=watch_work.element_loop, args=(4 if how == "last" else 1000,), daemon=how != "last").start()
print(watch_work.element_loop(2), flush=True)
if how == "exit":
    sys.exit(3)
elif how == "_exit":
    os._exit(4)
elif how == "abort":
    os.abort()
elif how == "kill":
    os.kill(os.getpid(), signal.SIGTERM)
