# SPDX-License-Identifier: Apache-2.0
"""An exec that fails leaves a program that goes on."""
import os
import time

for path in ("/nonexistent", "/etc/passwd", "/"):
    try:
        os.execv(path, [path])
    except OSError as error:
        print(error)
while time.thread_time() < 0.2:
    pass
print("still here")
