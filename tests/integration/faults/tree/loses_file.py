# SPDX-License-Identifier: Apache-2.0
"""A program that does something to its own profile, and goes on with children."""
import os
import subprocess
import sys
import time


def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def children():
    if os.fork() == 0:
        burn(0.1)
        os._exit(5)
    print(os.wait()[1])
    print(subprocess.run([sys.executable, "-c", "print('ran')"], capture_output=True, text=True, check=False))


def wait_until_nobody_writes(path):
    """Writes come seldom after the first second. A log may stay between them."""
    quiet_since, seen = time.monotonic(), None
    while time.monotonic() - quiet_since < 0.05:
        now = [os.stat(path + end).st_mtime_ns for end in ("", "-wal") if os.path.exists(path + end)]
        if now != seen:
            quiet_since, seen = time.monotonic(), now
        time.sleep(0.001)


path, how = sys.argv[1:]
burn(0.3)
children()
if os.path.exists(path):
    wait_until_nobody_writes(path)
if os.path.exists(path):
    if how == "move":
        for end in ("", "-wal", "-shm"):
            if os.path.exists(path + end):
                os.rename(path + end, path + ".moved" + end)
    elif how == "remove":
        os.remove(path)
    elif how == "remove all":
        for end in ("", "-wal", "-shm"):
            if os.path.exists(path + end):
                os.remove(path + end)
    elif how == "folder":
        os.rename(os.path.dirname(path), os.path.dirname(path) + ".moved")
burn(0.2)
children()
