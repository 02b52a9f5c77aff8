# SPDX-License-Identifier: Apache-2.0
"""A fork in a program with one thread: no warning (3.12 and later count the threads of the process)."""
import os
import time
import warnings

warnings.simplefilter("always")
while time.thread_time() < 0.3:
    pass
for _ in range(3):
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    print(os.waitpid(pid, 0)[1])
