#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The peak memory of small programs, and their page faults, under pieprof and under python3.

Prints a line for each program: the largest resident size in MB (medians over the rounds), what pieprof has beyond 1.05
times python3's, and page faults without reading from a disk. With --before it also runs another build.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import commands

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = ("json_codec", "asyncio_pingpong", "pprint_alloc", "regex", "fib", "numpy_mixed")
LARGE = ("pandas_groups", "polars_groups", "sklearn_fit", "torch_steps")  # with large libraries; only if they are named
GOAL_MB = 8

# A process's peak begins with that of the one that started it, so a small one starts each.
STARTER = """
import json, os, sys
pid = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ,
                      file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
_, status, used = os.wait4(pid, 0)
print(json.dumps([os.waitstatus_to_exitcode(status), used.ru_maxrss * 1024 / 1e6, used.ru_minflt]))
"""


def peak(command, program, scale):
    """(MB, page faults) of one process."""
    words = [sys.executable, "-I", "-S", "-c", STARTER, *map(str, command), str(HERE / "programs" / f"{program}.py"), str(scale)]
    text = subprocess.run(words, env=commands.environment(), stdout=subprocess.PIPE, check=True).stdout
    status, peak_mb, faults = json.loads(text)
    if status:
        raise SystemExit(f"{program}: {command[0]} ended with {status}")
    return peak_mb, faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pieprof", default=HERE.parent / "build" / "pieprof")
    parser.add_argument("--before", help="another build")
    parser.add_argument("--python", default="/usr/bin/python3", help="with the programs' libraries, as of an environment")
    parser.add_argument("--scale", type=float, default=0.5, help="of the programs' work")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", action="append", choices=PROGRAMS + LARGE,
                        help="this program (may be repeated)")
    options = parser.parse_args()
    builds = {"before": options.before, "pieprof": options.pieprof}
    print(f"| program | | MB | beyond 1.05 × python3 (goal {GOAL_MB}) | page faults |\n|---|---|---|---|---|")
    for program in options.only or PROGRAMS:
        plain_mb = None
        for name, build in {"python3": options.python, **{n: b for n, b in builds.items() if b}}.items():
            with tempfile.TemporaryDirectory() as folder:
                command = [build] if name == "python3" else [build, "-q", "--python", options.python, "-o", os.path.join(folder, "file.db")]
                runs = [peak(command, program, options.scale) for _ in range(options.rounds)]
            peak_mb, faults = (statistics.median(column) for column in zip(*runs))
            plain_mb = plain_mb or peak_mb
            beyond = "" if name == "python3" else f"{peak_mb - 1.05 * plain_mb:.1f}"
            print(f"| {program} | {name} | {peak_mb:.1f} | {beyond} | {faults:.0f} |", flush=True)


if __name__ == "__main__":
    main()
