# SPDX-License-Identifier: Apache-2.0
"""Forks from several threads at once, while others compute; children end in all ways."""
import os
import subprocess
import sys
import threading
import warnings

warnings.simplefilter("ignore", DeprecationWarning)  # from 3.12 on such a fork is warned about, with the pid
statuses = []


def forks(index):
    for i in range(10):
        child = os.fork()
        if child == 0:
            sum(range(20_000))
            os._exit(10 * index + i)
        statuses.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    statuses.append(subprocess.run([sys.executable, "-c", f"raise SystemExit(10 * {index})"]).returncode + 100)


def spin():
    while not done:
        sum(range(1000))


done = []
threads = [threading.Thread(target=forks, args=(i,)) for i in range(4)]
spinning = threading.Thread(target=spin)
for thread in [spinning, *threads]:
    thread.start()
for thread in threads:
    thread.join()
done.append(1)
spinning.join()
print(sorted(statuses))
