# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C that the program catches while it sleeps."""
import os
import signal
import threading
import time

threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    time.sleep(10)
except KeyboardInterrupt:
    print("interrupted")
