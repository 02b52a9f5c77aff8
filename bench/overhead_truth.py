#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Is the overhead that pieprof prints the one that it has?

Whole processes, one after the other in turn: the system's python3; the interpreter of pieprof without a profiler, which is what the
executable is under python3's name; pieprof as it is. CPU time is what the kernel counts when each has ended. "measured" is the median
difference of the last two, "printed" the median of the summaries, "wrong" the median difference of both in a round, with two standard
errors of that (by the median absolute deviation of the rounds). The interpreter's own difference from python3 is no cost of profiling,
and no run can know it: the first two columns show it. Goal: 1.5 points of the program or 10 ms. "open": these lie within the errors.
"""

import argparse
import math
import os
import pathlib
import re
import statistics
import tempfile

import commands

HERE = pathlib.Path(__file__).resolve().parent
GOAL_S, GOAL_SHARE = 0.010, 0.015
TEXTS = {
    "nothing": "pass",
    "short": "s = 0\nfor i in range(350_000): s += i * i % 7",
    "imports": "import asyncio, email.message, http.client, json, sqlite3, unittest, xml.dom.minidom",
    "sleeps": "import time\nfor i in range(100): time.sleep(0.01)",
    "loop": "s = 0\nfor i in range(12_000_000): s += i * i % 7",
}
PROGRAMS = ["fib", "pprint_alloc", "threads", "json_codec", "regex", "sqlite_zlib", "numpy_mixed"]


def cpu_s(file, argv, stderr):
    with open(stderr, "wb") as out:
        actions = [(os.POSIX_SPAWN_DUP2, out.fileno(), 2), (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)]
        pid = os.posix_spawn(file, [str(word) for word in argv], commands.environment(), file_actions=actions)
        _, status, usage = os.wait4(pid, 0)
    if status:
        raise SystemExit(f"{argv} ended with {status}")
    return usage.ru_utime + usage.ru_stime


def printed_s(text):
    found = re.search(r"overhead (?:\+(\d+) ms|[\d.]+ % \(([\d.]+) s\))", text)
    return float(found[1]) / 1000 if found[1] else float(found[2])


def measure(options, words, folder):
    """(python3, bare, measured, printed, wrong, error) in seconds, medians of rounds; two standard errors of the last but one."""
    rounds = []
    for i in range(options.rounds):
        stderr = folder / "stderr"
        plain = cpu_s(options.python, [options.python, *words], stderr)
        bare = cpu_s(options.pieprof, [options.python, *words], stderr)
        on = cpu_s(options.pieprof, [options.pieprof, "-o", folder / f"on{i}.db", *words], stderr)
        printed = printed_s(stderr.read_text())
        rounds.append((plain, bare, on - bare, printed, printed - (on - bare)))
    medians = [statistics.median(column) for column in zip(*rounds)]
    deviation = 1.4826 * statistics.median(abs(one[-1] - medians[-1]) for one in rounds)
    return [*medians, 2 * math.sqrt(math.pi / 2) * deviation / math.sqrt(options.rounds)]


def verdict(wrong, error, goal):
    if abs(wrong) + error <= goal:
        return "yes"
    return "no" if abs(wrong) - error > goal else "open"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pieprof", default=HERE.parent / "build" / "pieprof")
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--scale", type=float, default=0.4, help="of the programs' work; 1 is 2 to 3 seconds each")
    parser.add_argument("--only", action="append", choices=[*TEXTS, *PROGRAMS], help="this program (may be repeated)")
    options = parser.parse_args()
    print("| program | python3 s | bare s | measured ms | printed ms | wrong ms | points | reached |\n|---|---|---|---|---|---|---|---|")
    for name in options.only or [*TEXTS, *PROGRAMS]:
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "program.py").write_text(TEXTS.get(name, ""))
            words = [folder / "program.py"] if name in TEXTS else [HERE / "programs" / f"{name}.py", options.scale]
            plain, bare, measured, printed, wrong, error = measure(options, words, folder)
        print(f"| {name} | {plain:.3f} | {bare:.3f} | {measured * 1e3:.0f} | {printed * 1e3:.0f} "
              f"| {wrong * 1e3:+.0f} ± {error * 1e3:.0f} | {100 * wrong / bare:+.1f} ± {100 * error / bare:.1f} "
              f"| {verdict(wrong, error, max(GOAL_S, GOAL_SHARE * bare))} |", flush=True)


if __name__ == "__main__":
    main()
