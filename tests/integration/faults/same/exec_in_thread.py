# SPDX-License-Identifier: Apache-2.0
"""exec from a thread while others compute."""
import os
import threading
import time


def spin():
    while True:
        sum(range(1000))


threading.Thread(target=spin, daemon=True).start()
threading.Thread(target=lambda: (time.sleep(0.2), os.execl("/bin/sh", "sh", "-c", "exit 13"))).start()
while True:
    pass
