# SPDX-License-Identifier: Apache-2.0
"""Burns CPU time and says after every few milliseconds how much it has had; for a parent that kills it.

usage: progress.py [SECONDS]      without a limit it runs for a minute
"""

import os
import sys
import time

limit = float(sys.argv[1]) if len(sys.argv) > 1 else 60


def work():
    x = 1
    while time.thread_time() < limit:
        for _ in range(50_000):
            x = (x * 75 + 74) % 65537
        os.write(1, b"%.6f %.6f\n" % (time.thread_time(), time.time()))


work()
