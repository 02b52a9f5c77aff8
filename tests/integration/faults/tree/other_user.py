# SPDX-License-Identifier: Apache-2.0
"""A program that drops its privileges, and forks and starts others as that user."""
import os
import subprocess
import sys
import time


def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


burn(0.3)
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
burn(0.4)
if len(sys.argv) > 1:
    if os.fork() == 0:
        burn(0.1)
        os._exit(5)
    print(os.wait()[1])
    done = subprocess.run([sys.executable, "-c", "import os; print(os.getuid())"], capture_output=True, text=True, check=False)
    print(done)
print(os.getuid())
