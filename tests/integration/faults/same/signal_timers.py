# SPDX-License-Identifier: Apache-2.0
"""The program's own interval timers, and a descriptor that its signals wake."""
import os
import signal
import socket
import time

hits = dict.fromkeys(("SIGALRM", "SIGVTALRM", "SIGPROF"), 0)


def handler(number, frame):
    hits[signal.Signals(number).name] += 1


reading, writing = socket.socketpair()
writing.setblocking(False)
signal.set_wakeup_fd(writing.fileno(), warn_on_full_buffer=False)
for kind, number in ((signal.ITIMER_REAL, signal.SIGALRM), (signal.ITIMER_VIRTUAL, signal.SIGVTALRM),
                     (signal.ITIMER_PROF, signal.SIGPROF)):
    signal.signal(number, handler)
    signal.setitimer(kind, 0.02, 0.02)
    end = time.monotonic() + 5
    while hits[signal.Signals(number).name] < 10 and time.monotonic() < end:
        pass
    signal.setitimer(kind, 0)
print(hits if min(hits.values()) < 10 else "each often enough")
woken = set(reading.recv(4096))
print(sorted(woken))
signal.alarm(1)
signal.pause()
print("pause ended")
begun = time.monotonic()
signal.setitimer(signal.ITIMER_REAL, 0.1)
try:
    signal.signal(signal.SIGALRM, lambda *_: 1 / 0)
    os.read(os.pipe()[0], 1)
except ZeroDivisionError:
    print("read was interrupted", time.monotonic() - begun < 3)
