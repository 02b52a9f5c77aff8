# SPDX-License-Identifier: Apache-2.0
"""Memory that is refused."""
import resource
import time

resource.setrlimit(resource.RLIMIT_DATA, (1 << 30, 1 << 30))
try:
    bytearray(1 << 34)
except MemoryError:
    print("refused")
while time.thread_time() < 0.2:
    pass
parts = []
try:
    while True:
        parts.append(bytearray(1 << 24))
except MemoryError:
    parts.clear()
    print("refused again")
