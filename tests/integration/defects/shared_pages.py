# SPDX-License-Identifier: Apache-2.0
"""Which writable shared pages does a child see that this program forks: argument `raw` (system call) or `fork`?"""

import ctypes
import os
import re
import sys


def shared_pages():
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        return [line.strip() for line in maps if re.match(r"\S+ .w.s ", line)]


SYS_FORK = 57
fork = (lambda: ctypes.CDLL(None).syscall(SYS_FORK)) if sys.argv[1] == "raw" else os.fork
print(*shared_pages(), sep="\n", flush=True)
print("--", flush=True)
pid = fork()
if pid == 0:
    print(*shared_pages(), sep="\n", flush=True)
    # It can do what others do: allocate, make threads and children, wait for them, execute.
    grandchild = os.fork()
    if grandchild == 0:
        os.execv("/bin/true", ["true"])
    os.waitpid(grandchild, 0)
    os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)
    os._exit(len([bytes(100) for _ in range(100000)]) - 100000)
print("child", os.waitpid(pid, 0)[1])
