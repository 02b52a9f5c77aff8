# SPDX-License-Identifier: Apache-2.0
"""How every program here is started: `PROGRAM.py [--scale S] [--fixed]` does S times its usual work (5 to 8 seconds;
a few take 30 to 60) and prints one JSON object: what the work itself took and a checksum of what it computed, which
--fixed must not change. Programs of ../unseen and ../apart import this module too; runs.py gives them the path.

A wasteful program says in its head what is wrong (CATEGORY, KIND) and marks the lines to find with `# waste: load` or
`# waste: store`. A clean program has no --fixed.
"""

import argparse
import json
import time

import numpy as np


def main(work, fixed=None, *, repeats):
    """Calls work(n), or fixed(n), with the scaled number of repeats; either returns what the checksum is made of."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--fixed", action="store_true")
    options = parser.parse_args()
    if options.fixed and not fixed:
        parser.error("this program has nothing to fix")
    chosen = fixed if options.fixed else work
    wall, cpu = time.perf_counter(), time.process_time()
    result = chosen(max(1, round(repeats * options.scale)))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(json.dumps({"wall_s": wall, "cpu_s": cpu, "checksum": checksum(result)}))


def checksum(result):
    """A few figures that say whether two results are the same: size, sum, sum of squares, a weighted sum."""
    values = np.asarray(result, dtype=float).ravel()
    weights = np.cos(np.arange(values.size))
    return [float(values.size), float(values.sum()), float(np.square(values).sum()), float(values @ weights)]
