# SPDX-License-Identifier: Apache-2.0
"""Blocking calls of C libraries that know nothing of EINTR, under load."""
import ctypes
import threading
import time

libc = ctypes.CDLL(None, use_errno=True)
failed = []


def blocked():
    for _ in range(30):
        if libc.usleep(20_000):
            failed.append(ctypes.get_errno())


threads = [threading.Thread(target=blocked) for _ in range(3)]
for thread in threads:
    thread.start()
while any(t.is_alive() for t in threads):
    sum(range(1000))
print(failed, libc.poll(None, 0, 300), libc.usleep(200_000))
while time.thread_time() < 0.3:
    pass
