# SPDX-License-Identifier: Apache-2.0
"""abort() with text still in the buffer of stdout."""
import os
import time

while time.thread_time() < 0.2:
    pass
print("never seen")
os.abort()
