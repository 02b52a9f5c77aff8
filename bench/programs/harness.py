# SPDX-License-Identifier: Apache-2.0
"""How every program here is started and timed: `PROGRAM.py [SCALE]` does SCALE times its usual work (2 to 4 seconds)
and prints what the work itself took, start-up and end of the interpreter left out. `PROGRAM.py SCALE TURNS` does it in
this many parts, each when a line arrives, so that several processes can take turns."""

import json
import sys
import time


def timed(work, repeats):
    """Prints what work(repeats) took; its result too, so that nothing is left out."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = work(repeats)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(json.dumps({"wall_s": wall, "cpu_s": cpu, "result": str(result)[:40]}), flush=True)


def run(work, repeats):
    """Calls work(n) with n scaled."""
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    turns = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    if not turns:
        timed(work, max(1, round(repeats * scale)))
    for _ in range(turns):
        sys.stdin.readline()
        timed(work, max(1, round(repeats * scale / turns)))
