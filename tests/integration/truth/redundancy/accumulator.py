# SPDX-License-Identifier: Apache-2.0
"""Calls a native function that adds to one word a million times in each call. usage: accumulator.py FOLDER SECONDS

Prints a JSON object: how many calls, and how many additions in each."""
import json
import sys
import time

sys.path.insert(0, sys.argv[1])
import mix  # noqa: E402  (built by the test)

ADDITIONS = 1_000_000

calls = 0
while time.thread_time() < float(sys.argv[2]):
    mix.accumulate(ADDITIONS)  # accumulates
    calls += 1
print(json.dumps({"calls": calls, "additions": ADDITIONS}))
