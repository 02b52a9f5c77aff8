# SPDX-License-Identifier: Apache-2.0
"""A program that closes everything but the standard streams, as a daemon does, and goes on."""
import os
import time

os.closerange(3, 4096)
print(os.open("/dev/null", os.O_RDONLY))
while time.thread_time() < 0.5:
    pass
os.closerange(3, 4096)
time.sleep(1.1)
print(os.open("/dev/null", os.O_RDONLY))
