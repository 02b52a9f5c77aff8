# SPDX-License-Identifier: Apache-2.0
"""A crash that faulthandler reports; the report names these lines."""
import ctypes
import faulthandler
import time

faulthandler.enable()


def deep(n):
    while time.thread_time() < 0.3:
        pass
    return deep(n - 1) if n else ctypes.string_at(8)


deep(5)
