# SPDX-License-Identifier: Apache-2.0
"""A crash in C code called through ctypes."""
import ctypes
import time

while time.thread_time() < 0.3:
    pass
ctypes.string_at(8)
