# SPDX-License-Identifier: Apache-2.0
"""A master of root's whose workers, forked and started, are nobody's; some have opened the file by then (argument)."""
import os
import subprocess
import sys
import time


def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def worker(is_late):
    child = os.fork()
    if child == 0:
        if is_late:
            time.sleep(0.5)
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
        burn(0.1)
        os._exit(os.getuid() % 100)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


for n in range(2):
    worker(n < int(sys.argv[1]))
for more in ({"user": 65534, "group": 65534, "extra_groups": []}, {"preexec_fn": lambda: os.setuid(65534)}):
    print(subprocess.run([sys.executable, "-c", "import os; print(os.getuid())"], capture_output=True, text=True,
                         check=False, cwd="/", **more).stdout, end="")
burn(0.3)
