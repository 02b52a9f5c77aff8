# SPDX-License-Identifier: Apache-2.0
"""halves.py N: N threads run 0.06 s each, one half of it reading /dev/zero (the kernel clears pages), and say how it
was split.

By the threads' own clocks around either half: getrusage() splits by the ticks that fell on a thread, too few of them
here.
"""

import json
import os
import sys
import threading
import time

told = []
ready = threading.Barrier(int(sys.argv[1]))
zero = os.open("/dev/zero", os.O_RDONLY)


def run():
    ready.wait()
    page = bytearray(1 << 20)
    user_s = system_s = 0
    while user_s + system_s < 0.06:
        begin = time.thread_time()
        if system_s < user_s:
            for _ in range(8):
                os.readv(zero, [page])
            system_s += time.thread_time() - begin
        else:
            sum(range(20000))
            user_s += time.thread_time() - begin
    told.append((user_s, system_s))


threads = [threading.Thread(target=run) for _ in range(int(sys.argv[1]))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(json.dumps({"user_s": sum(u for u, _ in told), "system_s": sum(s for _, s in told)}))
