# SPDX-License-Identifier: Apache-2.0
"""Daemon threads run into the end of the interpreter."""
import threading
import time


def spin():
    while True:
        sum(range(1000))


for _ in range(4):
    threading.Thread(target=spin, daemon=True).start()
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
time.sleep(0.3)
print("end")
