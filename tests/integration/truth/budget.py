# SPDX-License-Identifier: Apache-2.0
"""Native code that is called for little, in Python code that allocates: each collector has something to do.

usage: budget.py SECONDS
"""

import json
import sys
import time

numbers = list(range(300))


def work():
    table = {}
    for number in numbers:
        table[number] = bytes(number), str(number)
    return sum(sorted(map(len, [text for _, text in table.values()])))


while time.thread_time() < float(sys.argv[1]):
    work()
print(json.dumps({}))
