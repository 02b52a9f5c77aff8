# SPDX-License-Identifier: Apache-2.0
"""Calls a native function whose results repeat with a known share; between two of its calls lie many others, which
return to the same place in the interpreter. usage: results.py FOLDER SECONDS

Prints a JSON object: the exact share, how many calls there were, and how many others between any two."""
import json
import sys
import time

sys.path.insert(0, sys.argv[1])
import mix  # noqa: E402  (built by the test)

OTHERS = 60

calls = 0
while time.thread_time() < float(sys.argv[2]):
    for _ in range(100):
        mix.compute(calls)  # computes
        calls += 1
        for _ in range(OTHERS):
            mix.nothing()
print(json.dumps({"calls": calls, "others": OTHERS, "share": mix.redundant_results()}))
