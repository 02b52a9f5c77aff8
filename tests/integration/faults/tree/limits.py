# SPDX-License-Identifier: Apache-2.0
"""A program that limits itself: files of 4 KiB and the kernel's own signal for more, few descriptors, few processes."""
import os
import resource
import signal
import subprocess
import sys
import threading
import time
import warnings

# From 3.12 on fork() warns of other threads, by chance also of one that was joined and has not quite ended.
warnings.simplefilter("ignore", DeprecationWarning)


def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        bytes(50_000)


def children():
    if os.fork() == 0:
        burn(0.1)
        os._exit(4)
    print(os.waitstatus_to_exitcode(os.wait()[1]))
    done = subprocess.run([sys.executable, "-c", "print('ran')"], capture_output=True, text=True, check=False)
    print(done, flush=True)


what, limit = sys.argv[1], int(sys.argv[2])
if what == "RLIMIT_FSIZE":
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
resource.setrlimit(getattr(resource, what), (limit, limit))
burn(0.3)
children()
burn(0.2)
try:
    thread = threading.Thread(target=burn, args=(0.1,))
    thread.start()
    thread.join()
    children()
except (OSError, RuntimeError) as error:
    print(error)
