# SPDX-License-Identifier: Apache-2.0
"""Memory that climbs, by 200 MB/s but for `none`, until something ends it.

usage: climb.py kill BYTES          kills itself with SIGKILL at this many bytes
       climb.py limit BYTES         has this many bytes more of address space than at the start; ends by MemoryError
       climb.py caught BYTES        the same, but catches it, releases all and goes on
       climb.py none                has no limit of its own; as fast as it can

Prints a line `SECONDS BYTES` for each step of 5 MB, by time.time().
"""

import os
import resource
import signal
import sys
import time

STEP = 5_000_000
how = sys.argv[1]
limit = int(sys.argv[2]) if len(sys.argv) > 2 else None


def address_space():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def climb():
    held, begun = [], time.time()
    while True:
        held.append(b"x" * STEP)  # CLIMB
        print(time.time(), len(held) * STEP, flush=True)
        if how == "kill" and len(held) * STEP >= limit:
            os.kill(os.getpid(), signal.SIGKILL)
        if how != "none":
            time.sleep(max(0, begun + len(held) * STEP / 200e6 - time.time()))


if how in ("limit", "caught"):
    resource.setrlimit(resource.RLIMIT_AS, (address_space() + limit, resource.RLIM_INFINITY))
try:
    climb()
except MemoryError:
    if how != "caught":
        raise
print("caught", sum(len(bytes(100_000)) for _ in range(1_000)))
