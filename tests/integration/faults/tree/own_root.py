# SPDX-License-Identifier: Apache-2.0
"""A program that goes to a root of its own, without /proc and without its libraries, and forks there."""
import os
import sys
import time


def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        bytes(10_000)


burn(0.3)
os.chroot(sys.argv[1])
os.chdir("/")
print(os.listdir("/"))
burn(0.2)
if os.fork() == 0:
    burn(0.1)
    os._exit(5)
print(os.wait()[1])
try:
    os.execv("/usr/bin/python3", ["python3", "-c", "pass"])
except OSError as error:
    print(error)
