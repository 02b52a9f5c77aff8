# SPDX-License-Identifier: Apache-2.0
"""SIGTRAP that a thread sends to itself while it is blocked, a thousand times: each is there for sigpending(), for a
wait and, once it is open again, for the handler, whatever signals of the same number the profiler's clock sends
meanwhile."""
import signal

TRAP = {signal.SIGTRAP}
signal.pthread_sigmask(signal.SIG_BLOCK, TRAP)
import watch_work  # noqa: E402  (threads that libraries start must have it blocked too)

handled = []
signal.signal(signal.SIGTRAP, lambda *_: handled.append(1))
SI_USER = 0  # what glibc makes of SI_TKILL
pending = waited = again = 0
for turn in range(1000):
    signal.raise_signal(signal.SIGTRAP)
    if turn % 10 == 0:
        watch_work.element_loop(1, steps=100)
    pending += signal.SIGTRAP in signal.sigpending()
    if turn % 2:
        got = signal.sigtimedwait(TRAP, 5)
        waited += got is not None and got.si_code == SI_USER
        again += signal.sigtimedwait(TRAP, 0) is not None
    else:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, TRAP)
        signal.pthread_sigmask(signal.SIG_BLOCK, TRAP)
print(pending, waited, again, len(handled), sorted(map(int, signal.sigpending())))
signal.pthread_sigmask(signal.SIG_UNBLOCK, TRAP)
print(watch_work.element_loop(13), len(handled))
