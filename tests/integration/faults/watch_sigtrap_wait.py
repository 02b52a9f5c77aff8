# SPDX-License-Identifier: Apache-2.0
"""SIGTRAP blocked in all threads, sent to the process and waited for by one of them, while elements are worked on. Every
other time the one is at work itself until it has been sent."""
import os
import signal
import threading

print(signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTRAP}))
import watch_work  # noqa: E402  (threads that libraries start must have it blocked too)

got = []
sent = 0


def wait():
    for n in range(6):
        while n % 2 and sent <= n:
            watch_work.element_loop(1, 10, 100)
        got.append(signal.sigwait({signal.SIGTRAP}))


waiter = threading.Thread(target=wait)
waiter.start()
for _ in range(6):
    print(watch_work.element_loop(6))
    before = len(got)
    os.kill(os.getpid(), signal.SIGTRAP)
    sent += 1
    while len(got) == before:
        watch_work.element_loop(1, 10, 100)
waiter.join()
print([int(number) for number in got])
print(sorted(map(int, signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTRAP}))))
print(watch_work.element_loop(3))
