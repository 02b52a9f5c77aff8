# SPDX-License-Identifier: Apache-2.0
"""settles.py SECONDS: an iteration that reaches its fixed point, to the bit, and goes on for twice that time. Says when
that was, in seconds since the program began, and what part of the line's CPU time was spent after it."""
import json
import sys
import time

import numpy as np


def settle(until_s):
    """Half of the way to a limit, which the result moves away from until it is time to stay."""
    x, aim = np.zeros(40_000), np.linspace(1, 2, 40_000)
    began = time.process_time()
    settled_s = settled_cpu_s = None
    cost_s = settled_cost_s = 0
    while settled_s is None or time.process_time() - settled_cpu_s < 2 * (settled_cpu_s - began):
        before_s = time.process_time()
        following = np.maximum(x, aim)  # settles
        cost_s += time.process_time() - before_s
        if settled_s is None and time.process_time() - began < until_s:
            aim = aim + 1e-9
        elif settled_s is None and (following == x).all():
            settled_s, settled_cpu_s, settled_cost_s = time.monotonic() - START, time.process_time(), cost_s
        x = following
    return settled_s, (cost_s - settled_cost_s) / cost_s


START = time.monotonic()
if __name__ == "__main__":
    settled_s, share = settle(float(sys.argv[1]))
    print(json.dumps({"settled_s": settled_s, "share": share}))
