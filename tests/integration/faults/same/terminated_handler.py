# SPDX-License-Identifier: Apache-2.0
"""SIGTERM with a handler that raises."""
import os
import signal
import sys
import time

signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(number))
os.kill(os.getpid(), signal.SIGTERM)
time.sleep(10)
