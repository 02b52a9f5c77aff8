#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a thread costs, by how many there are: CPU time of a process with N threads under pieprof, less that under
python3, less the same difference without threads, for each thread. As ratios to the cost of one of ten.

usage: bench/many_threads.py [--pieprof build/pieprof] [--python /usr/bin/python3] [--runs 5] [--seconds 3]
"""

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile

COUNTS = (1, 10, 50, 100, 250, 500)
BASE = 10
PROGRAM = """
import sys, threading, time
kind, n, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
threading.stack_size(256 * 1024)
stop = threading.Event()
def idle():
    stop.wait()
def poll():
    while not stop.is_set():
        time.sleep(0.1)
threads = [threading.Thread(target=idle if kind == "idle" else poll) for _ in range(n)]
for thread in threads:
    thread.start()
time.sleep(seconds)
stop.set()
for thread in threads:
    thread.join()
"""


def cpu_s(command, *arguments):
    """User and system time of one run, of all its threads."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*command, "-c", PROGRAM, *map(str, arguments)], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pieprof", default="build/pieprof")
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3)
    options = parser.parse_args()
    print("| threads | kind | cost of each / of one of 10 | cost of each, part of a core |\n|---|---|---|---|")
    for kind in ("idle", "poll"):
        costs = {}
        for n in (0, *COUNTS):
            differences = []
            for _ in range(options.runs):
                with tempfile.TemporaryDirectory() as folder:
                    profiled = cpu_s([options.pieprof, "-q", "-o", folder + "/x.db"], kind, n, options.seconds)
                differences.append(profiled - cpu_s([options.python], kind, n, options.seconds))
            costs[n] = statistics.median(differences)
        each = {n: (costs[n] - costs[0]) / n for n in COUNTS}
        for n in COUNTS:
            print(f"| {n} | {kind} | {each[n] / each[BASE]:.2f} | {each[n] / options.seconds:.5f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
