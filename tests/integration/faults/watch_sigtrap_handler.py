# SPDX-License-Identifier: Apache-2.0
"""The program has a handler of SIGTRAP: each of its own signals comes, and no other."""
import os
import signal
import threading

import watch_work

print(signal.getsignal(signal.SIGTRAP))
seen = []
signal.signal(signal.SIGTRAP, lambda number, frame: seen.append(threading.get_ident()))
for number in range(30):
    total = watch_work.element_loop(1, 50 + number, 2000)
    if number % 3 == 0:
        os.kill(os.getpid(), signal.SIGTRAP)
    elif number % 3 == 1:
        signal.raise_signal(signal.SIGTRAP)
    else:
        signal.pthread_kill(threading.main_thread().ident, signal.SIGTRAP)
    assert len(seen) == number + 1, (len(seen), number)
print(total, len(seen), set(seen) == {threading.main_thread().ident})
print(signal.signal(signal.SIGTRAP, signal.SIG_IGN).__name__)
os.kill(os.getpid(), signal.SIGTRAP)
print(watch_work.element_loop(2), len(seen))
