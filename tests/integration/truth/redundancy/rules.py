# SPDX-License-Identifier: Apache-2.0
"""rules.py SECONDS: one code object that is run for each of many numbers, which it finds by their name. Seconds are of
CPU time."""
import json
import sys
import time

SECONDS = float(sys.argv[1])
RULE = compile("number * number >= 0 and number not in (1, 2, 3) and -number < 1 << 40", "rule", "eval")
checked = passed = 0


def check(first):
    global checked, passed
    for number in range(first, first + 1000):
        passed += eval(RULE)  # rule
    checked += 1000


while time.process_time() < SECONDS:
    check(10 + checked)
print(json.dumps({"checked": checked, "passed": passed}))
