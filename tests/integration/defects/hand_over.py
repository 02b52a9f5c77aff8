# SPDX-License-Identifier: Apache-2.0
"""Two threads that hand over to each other, some ten thousand times a second. Prints what a time costs, and all CPU
seconds."""

import _thread
import json
import threading
import time

TIMES = 20000
there, back = _thread.allocate_lock(), _thread.allocate_lock()


def answer():
    for _ in range(TIMES):
        there.acquire()
        back.release()


there.acquire()
back.acquire()
other = threading.Thread(target=answer)
other.start()
cpu = time.process_time()
for _ in range(TIMES):
    there.release()
    back.acquire()
us = (time.process_time() - cpu) / TIMES * 1e6
other.join()
print(json.dumps({"us": us, "clock_cpu_s": time.thread_time()}))
