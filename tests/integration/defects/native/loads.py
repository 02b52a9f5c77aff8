# SPDX-License-Identifier: Apache-2.0
"""Calls the kernel that loads one word again and again, for so much CPU time: loads.py FOLDER SECONDS."""

import json
import sys
import time

sys.path.insert(0, sys.argv[1])
import kernels  # noqa: E402  (built by the test)


def work(seconds):
    calls = 0
    while time.thread_time() < seconds:
        for _ in range(100):
            kernels.loads(500)  # loads
        calls += 100
    return calls


print(json.dumps({"calls": work(float(sys.argv[2]))}))
