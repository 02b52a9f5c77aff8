# SPDX-License-Identifier: Apache-2.0
"""System calls that no signal ends (getpid(), mmap(), fork()) among alarms, whose handler restarts nothing: none fails
with EINTR. The first in a loop of machine code, where many of the profiler's signals come just before the
instruction."""
import ctypes
import mmap
import os
import signal
import time

# long calls(long count): the number of getpid() among count that returned -EINTR
CODE = bytes.fromhex("53 4154 4989fc 31db b827000000 0f05 4883f8fc 7503 48ffc3 49ffcc 75eb 4889d8 415c 5b c3")
memory = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
memory.write(CODE)
calls = ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))

alarms, failed = 0, 0


def on_alarm(number, frame):
    global alarms
    alarms += 1


signal.signal(signal.SIGALRM, on_alarm)
signal.setitimer(signal.ITIMER_REAL, 0.0002, 0.0002)
end = time.monotonic() + 3
while time.monotonic() < end:
    failed += calls(50000)
    mmap.mmap(-1, mmap.PAGESIZE).close()
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
signal.setitimer(signal.ITIMER_REAL, 0)
print(failed, alarms > 100)
