# SPDX-License-Identifier: Apache-2.0
"""halves.py N: N threads run 0.06 s each, one half of it reading /dev/zero (the kernel clears pages), and say how it was split."""

import json
import os
import resource
import sys
import threading

told = []
ready = threading.Barrier(int(sys.argv[1]))
zero = os.open("/dev/zero", os.O_RDONLY)


def run():
    ready.wait()
    page = bytearray(1 << 20)
    usage = resource.getrusage(resource.RUSAGE_THREAD)
    while usage.ru_utime + usage.ru_stime < 0.06:
        if usage.ru_stime < usage.ru_utime:
            for _ in range(8):
                os.readv(zero, [page])
        else:
            sum(range(20000))
        usage = resource.getrusage(resource.RUSAGE_THREAD)
    told.append((usage.ru_utime, usage.ru_stime))


threads = [threading.Thread(target=run) for _ in range(int(sys.argv[1]))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(json.dumps({"user_s": sum(u for u, _ in told), "system_s": sum(s for _, s in told)}))
