# SPDX-License-Identifier: Apache-2.0
"""A handler for each signal that can have one, each raised three times in three ways."""
import os
import signal
import threading
import time

hits = {}


def handler(number, frame):
    hits[number] = hits.get(number, 0) + 1


for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
    before = signal.signal(number, handler)
    assert signal.getsignal(number) is handler
    signal.raise_signal(number)
    os.kill(os.getpid(), number)
    time.sleep(0)
    signal.pthread_kill(threading.get_ident(), number)
    time.sleep(0)
while time.thread_time() < 0.3:
    pass
print(hits)
for number in hits:
    signal.signal(number, signal.SIG_DFL)
print([repr(signal.getsignal(n)) for n in sorted(hits)])
while time.thread_time() < 0.6:
    pass
