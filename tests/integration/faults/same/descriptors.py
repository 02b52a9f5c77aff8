# SPDX-License-Identifier: Apache-2.0
"""The program's descriptors are its own: their list, the numbers of new ones, and what a child inherits."""
import os
import subprocess
import sys
import time


def listing():
    with os.scandir("/proc/self/fd") as found:
        return sorted(int(e.name) for e in found if os.path.exists(e.path))


while time.thread_time() < 0.3:
    pass
print(listing())
opened = [os.open("/dev/null", os.O_RDONLY) for _ in range(5)]
time.sleep(1.2)
opened += [os.open("/dev/null", os.O_RDONLY) for _ in range(5)]
print(opened, os.pipe(), listing())
for fd in range(3, 30):
    try:
        os.set_inheritable(fd, True)
    except OSError:
        pass
child = "import os; print(sorted(int(n) for n in os.listdir('/proc/self/fd')))"
subprocess.run([sys.executable, "-c", child], close_fds=False)
subprocess.run(["/bin/ls", "/proc/self/fd"], close_fds=False)
