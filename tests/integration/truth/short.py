# SPDX-License-Identifier: Apache-2.0
"""A program of a few dozen milliseconds.

usage: short.py SECONDS
"""

import json
import sys
import time


def busy(seconds):
    begun = time.thread_time()
    x = 1
    while time.thread_time() - begun < seconds:
        for _ in range(1000):
            x = (x * 75 + 74) % 65537
    return time.thread_time() - begun


print(json.dumps({"busy_s": busy(float(sys.argv[1])), "thread_s": time.thread_time()}))
