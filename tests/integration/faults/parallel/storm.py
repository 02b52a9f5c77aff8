# SPDX-License-Identifier: Apache-2.0
"""Threads side by side make and drop code objects, threads and processes, while signals come and garbage is collected.

usage: storm.py SECONDS        of CPU time, and until a few of all things have been done
"""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
import warnings

counts = {"signals": 0, "codes": 0, "threads": 0, "forks": 0, "programs": 0}
seconds = float(sys.argv[1])
wrong = []
lock = threading.Lock()


def add(name, n=1):
    with lock:
        counts[name] += n


def is_time():
    return time.process_time() < seconds or min(counts.values()) < 3


def codes(number):
    """Code objects that live for a moment, some of them in other threads."""
    i = 0
    while is_time():
        i += 1
        names = {}
        exec(compile(f"def made_{number}_{i % 7}(n):\n    x = 1\n    for k in range(n):\n        x = (x * 75 + {i % 50}) % 65537\n"
                     f"    return x\n", f"<made {number} {i % 11}>", "exec"), names)
        made = names.popitem()[1]
        thread = threading.Thread(target=made, args=(2000,)) if i % 16 == 0 else None
        if thread:
            thread.start()
        made(500)
        if thread:
            thread.join()
            add("threads")
        add("codes")


def garbage():
    while is_time():
        ring = []
        ring.append(ring)
        del ring
        gc.collect()
        time.sleep(0.01)


def deep(n):
    return n and deep(n - 1)


def stacks():
    while is_time():
        deep(300)
        list(map(deep, range(30)))


def children():
    while is_time():
        pid = os.fork()
        if pid == 0:
            deep(100)
            threading.Thread(target=deep, args=(50,)).start()
            os._exit(7)
        if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 7:
            wrong.append("a child")
        add("forks")
        done = subprocess.run([sys.executable, "-S", "-c", "print(6 * 7)"], capture_output=True, text=True, check=False)
        if (done.returncode, done.stdout, done.stderr) != (0, "42\n", ""):
            wrong.append(repr(done))
        add("programs")


def on_signal(number, frame):
    counts["signals"] += 1


def endless():
    x = 1
    while True:
        x = (x * 75 + 74) % 65537


warnings.simplefilter("ignore")  # of forks while there are threads
signal.signal(signal.SIGALRM, on_signal)
signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
threads = [threading.Thread(target=codes, args=(i,)) for i in range(3)]
threads += [threading.Thread(target=target) for target in (garbage, stacks, children)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
signal.setitimer(signal.ITIMER_REAL, 0)
for _ in range(3):  # the process ends while they run
    threading.Thread(target=endless, daemon=True).start()
print(wrong or "right", flush=True)
sys.exit(5)
