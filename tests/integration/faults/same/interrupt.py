# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C that nobody catches: death by SIGINT after the traceback."""
import os
import signal
import time

while time.thread_time() < 0.2:
    pass
os.kill(os.getpid(), signal.SIGINT)
time.sleep(10)
