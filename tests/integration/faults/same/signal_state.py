# SPDX-License-Identifier: Apache-2.0
"""What the program sees of its signals: handlers, mask, pending, descriptor to wake up, timers."""
import faulthandler
import signal
import threading

print({int(n): repr(signal.getsignal(n)).split(" at ")[0] for n in signal.valid_signals()})
print(signal.pthread_sigmask(signal.SIG_BLOCK, []), signal.sigpending(), signal.set_wakeup_fd(-1))
print([signal.getitimer(n) for n in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)])
print(faulthandler.is_enabled(), threading.active_count(), threading.enumerate()[0].name)
before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
print(before, sorted(int(n) for n in signal.pthread_sigmask(signal.SIG_BLOCK, [])))
