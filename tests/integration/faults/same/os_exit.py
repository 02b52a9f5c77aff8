# SPDX-License-Identifier: Apache-2.0
"""os._exit: no clean-up of Python's."""
import atexit
import os
import time

atexit.register(print, "never seen")
while time.thread_time() < 0.2:
    pass
os._exit(3)
