# SPDX-License-Identifier: Apache-2.0
"""Calls a native function whose results repeat with a known share, as do its arguments; between two of its calls lie
many others, which return to the same place in the interpreter. usage: results.py FOLDER SECONDS

Prints a JSON object: the exact share, how many calls there were, and how many others between any two."""
import json
import sys
import time

sys.path.insert(0, sys.argv[1])
import mix  # noqa: E402  (built by the test)

OTHERS, PERIOD = 60, 256

# Of each call in a period of results: the first call in a row that returns the same.
firsts = [0]
for call in range(1, PERIOD):
    firsts.append(firsts[-1] if mix.compute(call) == mix.compute(call - 1) else call)

calls = 0
while time.thread_time() < float(sys.argv[2]):
    for _ in range(100):
        mix.compute(firsts[calls % PERIOD] + calls // PERIOD * PERIOD)  # computes
        calls += 1
        for _ in range(OTHERS):
            mix.nothing()
print(json.dumps({"calls": calls, "others": OTHERS, "share": mix.redundant_results()}))
