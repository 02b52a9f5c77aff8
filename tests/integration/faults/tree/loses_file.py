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


path, how = sys.argv[1:]
burn(0.3)
children()
if os.path.exists(path):
    if how == "move":
        os.rename(path, path + ".moved")
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
