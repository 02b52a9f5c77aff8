# SPDX-License-Identifier: Apache-2.0
"""How every program here is started and timed: `PROGRAM.py [SCALE]` does SCALE times its usual work (2 to 4 seconds)
and prints what the work itself took, start-up and end of the interpreter left out."""

import json
import sys
import time


def run(work, repeats):
    """Calls work(n) with n scaled; the program's result is printed too, so that nothing is left out."""
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    wall, cpu = time.perf_counter(), time.process_time()
    result = work(max(1, round(repeats * scale)))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(json.dumps({"wall_s": wall, "cpu_s": cpu, "result": str(result)[:40]}))
