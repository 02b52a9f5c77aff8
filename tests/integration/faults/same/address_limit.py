# SPDX-License-Identifier: Apache-2.0
"""Limits its own address space, when most of what the profiler has reserved would already be more."""
import os
import resource
import subprocess
import sys
import threading
import warnings

warnings.simplefilter("ignore", DeprecationWarning)  # forks while threads run, and that names the pid
LIMIT = 800 << 20


def take(megabytes):
    try:
        return len(bytearray(megabytes << 20))
    except MemoryError:
        return "no memory"


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))


done = subprocess.run([sys.executable, "-c", "import resource; print(resource.getrlimit(resource.RLIMIT_AS), len(bytearray(300 << 20)))"],
                     preexec_fn=limit, capture_output=True, text=True, check=False)
print(done.returncode, done.stdout, done.stderr)
print(resource.prlimit(0, resource.RLIMIT_AS, (LIMIT + (1 << 20), resource.RLIM_INFINITY)))
resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))
print(resource.getrlimit(resource.RLIMIT_AS), resource.prlimit(os.getpid(), resource.RLIMIT_AS))
print(take(300), take(900))
thread = threading.Thread(target=lambda: print(take(200)))
thread.start()
thread.join()
if os.fork() == 0:
    print(take(300), take(900), sum(range(1000)), flush=True)
    os._exit(4)
print(os.wait()[1])
for number in (resource.RLIMIT_AS, resource.RLIMIT_NOFILE):
    try:
        resource.setrlimit(number, (2, 1))
    except ValueError as error:
        print(error)
