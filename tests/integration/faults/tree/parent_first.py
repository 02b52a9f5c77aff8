# SPDX-License-Identifier: Apache-2.0
"""The parent is killed; the child goes on, in a thread too, and starts others."""
import os
import signal
import subprocess
import sys
import threading
import time


def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


burn(0.1)
parent = os.getpid()
if os.fork():
    time.sleep(60)
thread = threading.Thread(target=burn, args=(0.2,))
thread.start()
os.kill(parent, signal.SIGKILL)
thread.join()
burn(0.3)
done = subprocess.run([sys.executable, "-c", "print('grandchild')"], capture_output=True, text=True, check=False)
with open(sys.argv[1], "w", encoding="ascii") as file:
    file.write(f"{os.getpid()} {time.process_time()} {done.returncode} {done.stdout}")
