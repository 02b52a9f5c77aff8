# SPDX-License-Identifier: Apache-2.0
"""SIGTRAP that is blocked and pending while elements are worked on: what waits for it gets this one and no other."""
import os
import signal

signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTRAP})
import watch_work  # noqa: E402  (threads that libraries start must have it blocked too)

for _ in range(3):
    print(watch_work.element_loop(2), sorted(map(int, signal.sigpending())))
    os.kill(os.getpid(), signal.SIGTRAP)
    print(watch_work.element_loop(2), sorted(map(int, signal.sigpending())))
    print(signal.sigwaitinfo({signal.SIGTRAP}).si_code, signal.sigtimedwait({signal.SIGTRAP}, 0.1))
signal.raise_signal(signal.SIGTRAP)
print(watch_work.element_loop(2), sorted(map(int, signal.sigpending())))
print(int(signal.sigwait({signal.SIGTRAP})), sorted(map(int, signal.sigpending())))
print(watch_work.element_loop(2), sorted(map(int, signal.sigpending())))
print(sorted(map(int, signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTRAP}))))
print(watch_work.element_loop(2))
