# SPDX-License-Identifier: Apache-2.0
"""Standard streams closed by the program itself."""
import os
import time

print("before", flush=True)
for fd in (0, 1, 2):
    os.close(fd)
print(os.open("/dev/null", os.O_RDWR))
while time.thread_time() < 0.3:
    pass
