# SPDX-License-Identifier: Apache-2.0
"""SIGTERM with its default action."""
import os
import signal
import time

while time.thread_time() < 0.2:
    pass
os.kill(os.getpid(), signal.SIGTERM)
time.sleep(10)
