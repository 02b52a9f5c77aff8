# SPDX-License-Identifier: Apache-2.0
"""Children that die of each signal that kills: the same wait statuses."""
import os
import resource
import signal

resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
for number in sorted(signal.valid_signals()):
    if number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU):
        continue
    child = os.fork()
    if child == 0:
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        for _ in range(100_000):
            pass
        os._exit(1)
    print(number, hex(os.waitpid(child, 0)[1] & ~0x80))
