# SPDX-License-Identifier: Apache-2.0
"""A storm of signals: a timer of 0.3 ms, and a thread that sends what it can to the others."""
import os
import signal
import threading

import watch_work

seen = {signal.SIGALRM: 0, signal.SIGUSR1: 0, signal.SIGPROF: 0}


def count(number, _):
    seen[number] += 1


for number in seen:
    signal.signal(number, count)
signal.setitimer(signal.ITIMER_REAL, 0.0003, 0.0003)
signal.setitimer(signal.ITIMER_PROF, 0.004, 0.004)
stop = threading.Event()


def send():
    sent = 0
    while not stop.wait(0.0005):
        signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1)
        sent += 1
    assert sent > 20, sent


sender = threading.Thread(target=send)
sender.start()
print(watch_work.element_loop(13))
stop.set()
sender.join()
signal.setitimer(signal.ITIMER_REAL, 0)
signal.setitimer(signal.ITIMER_PROF, 0)
assert all(n > 20 for n in seen.values()), seen
print("still here", os.getpid() > 0)
