# SPDX-License-Identifier: Apache-2.0
"""SIGTRAP blocked in all threads, sent to the process and waited for by one of them, while elements are worked on.
Every other time the one is at work itself until it has been sent."""
import os
import signal
import threading
import time

print(signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTRAP}))
import watch_work  # noqa: E402  (threads that libraries start must have it blocked too)

got = []
sent = 0


def work_a_little():
    watch_work.element_loop(1, 10, 100)
    time.sleep(0.001)  # the other thread may not get the GIL otherwise: the arrays give it up and take it again at once


def wait():
    for n in range(6):
        while n % 2 and sent <= n:
            work_a_little()
        got.append(signal.sigwait({signal.SIGTRAP}))


waiter = threading.Thread(target=wait)
waiter.start()
for _ in range(6):
    print(watch_work.element_loop(3))
    before = len(got)
    os.kill(os.getpid(), signal.SIGTRAP)
    sent += 1
    while len(got) == before:
        work_a_little()
waiter.join()
print([int(number) for number in got])
print(sorted(map(int, signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTRAP}))))
print(watch_work.element_loop(2))
