# SPDX-License-Identifier: Apache-2.0
"""`starter.py FILE COMMAND...`: runs a command and writes its wall and CPU seconds and its peak memory in bytes.

A process's peak memory begins with that of the one that started it, since it shares that one's memory until it executes
its own program. So a large bench must not start what it measures: this process is smaller than any of them."""

import os
import signal
import sys
import time

begun = time.monotonic()
pid = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
_, status, used = os.wait4(pid, 0)
wall_s = time.monotonic() - begun
with open(sys.argv[1], "w", encoding="ascii") as file:
    file.write(f"{wall_s} {used.ru_utime + used.ru_stime} {used.ru_maxrss * 1024}")
code = os.waitstatus_to_exitcode(status)
if code < 0:  # ends as the command did
    if -code != signal.SIGKILL:
        signal.signal(-code, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
sys.exit(code)
