# SPDX-License-Identifier: Apache-2.0
"""A queue whose consumer takes as many as come in, some hundred jobs later."""

import queue
import threading

from pace import COUNT, rounds

jobs = queue.Queue()
LAG = COUNT * 10 // 3


def consume():
    waiting = []
    while (job := jobs.get()) is not None:
        waiting.append(job)
        if len(waiting) > LAG:
            waiting.pop(0)


consumer = threading.Thread(target=consume)
consumer.start()
for number in rounds():
    for _ in range(10):
        jobs.put({"number": number, "body": bytearray(25_000)})
jobs.put(None)
consumer.join()
