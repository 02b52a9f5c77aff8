# SPDX-License-Identifier: Apache-2.0
"""A daemon made by hand: two forks, a session of its own, everything closed; it outlives who started it."""
import ctypes
import os
import sys
import time


def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


if os.fork():
    os.wait()
    print("started")
    sys.exit(3)
os.setsid()
if os.fork():
    os._exit(0)
ctypes.CDLL(None).syscall(436, 0, 0xFFFFFFFF, 0)  # close_range
for number in range(3):
    os.open("/dev/null", os.O_RDWR)
os.chdir("/")
burn(0.4)
os.closerange(3, 65536)
time.sleep(1.1)
burn(0.4)
os.umask(0o777)
if os.fork() == 0:
    burn(0.1)
    os._exit(6)
status = os.wait()[1]
with open(sys.argv[1], "w", encoding="ascii") as file:
    file.write(f"{os.getpid()} {time.thread_time()} {status}\n")
