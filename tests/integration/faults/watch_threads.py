# SPDX-License-Identifier: Apache-2.0
"""120 threads that come, work on elements and go, ten at a time."""
import threading

import watch_work

results = []


def work():
    results.append(watch_work.element_loop(1, 100, 1000))


running = []
for number in range(120):
    thread = threading.Thread(target=work)
    thread.start()
    running.append(thread)
    if len(running) == 10:
        running.pop(0).join()
for thread in running:
    thread.join()
print(len(results), set(results))
