# SPDX-License-Identifier: Apache-2.0
"""Calls the functions of the extension module mix for this many seconds of CPU time. usage: mixes.py FOLDER SECONDS

Prints a JSON object: the exact redundant share by percent, and how many calls there were of each function."""
import json
import sys
import time

sys.path.insert(0, sys.argv[1])
import mix  # noqa: E402  (built by the test)


def play(seconds):
    calls = 0
    while time.thread_time() < seconds:
        for _ in range(1000):
            mix.store_20(calls)  # store 20
            mix.store_50(calls)  # store 50
            mix.store_80(calls)  # store 80
            mix.change_20(calls)
            mix.read_20()  # load 20
            mix.change_50(calls)
            mix.read_50()  # load 50
            mix.change_80(calls)
            mix.read_80()  # load 80
            calls += 1
    return calls


print(json.dumps({"calls": play(float(sys.argv[2])), "shares": {p: mix.redundant(p) for p in (20, 50, 80)}}))
