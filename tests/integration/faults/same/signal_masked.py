# SPDX-License-Identifier: Apache-2.0
"""Everything blocked for a while, then waited for and received."""
import os
import signal
import time

wanted = {signal.SIGUSR1, signal.SIGPROF, signal.SIGRTMAX, signal.SIGRTMAX - 3}
before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
while time.thread_time() < 0.3:
    pass
for number in sorted(wanted):
    os.kill(os.getpid(), number)
print(sorted(map(int, signal.sigpending())))
print(sorted(signal.sigwaitinfo(wanted).si_signo for _ in wanted))
print(signal.sigtimedwait(wanted, 0.2))
signal.pthread_sigmask(signal.SIG_SETMASK, before)
while time.thread_time() < 0.6:
    pass
