#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Is the overhead that pieprof prints the one that it has?

Whole processes: the interpreter of pieprof without a profiler, which is what the executable is under python3's name
("bare"), and pieprof as it is. Programs of programs/ are at work in turns, so that a slow second of the machine slows
both; other texts run one after the other, in an order drawn anew. CPU time is what the kernel counts when each has
ended. "measured" is the difference of a round, "printed" what the summary says, "wrong" the difference of both. Each is
the mean of the rounds without the tenth at either end, with an interval of 95 % by bootstrap.

Where a program's memory lies moves its time by as much as 8 %: one longer variable of the environment is enough. So it
lies elsewhere in each process, drawn apart for bare and pieprof (placed.py).

Goal: 1.5 points of the program or 10 ms. "open": the interval reaches over the goal.

With --guest the interpreter itself is "bare", and the same one with the core preloaded is pieprof, as wheels have it.

With --idle-thread it is the interpreter without a profiler that is measured in the second place, with one more thread
that only sleeps: glibc's malloc() locks then, as it does beside the collection thread.
"""

import argparse
import os
import pathlib
import random
import re
import statistics
import subprocess
import tempfile

import commands

HERE = pathlib.Path(__file__).resolve().parent
GOAL_S, GOAL_SHARE = 0.010, 0.015
TURNS = 6
PLACES, PADDING_MOST = 1 << 30, 4096
CUT, DRAWS, CONFIDENCE = 0.1, 2000, 0.95
TEXTS = {
    "nothing": "pass",
    "short": "s = 0\nfor i in range(350_000): s += i * i % 7",
    "imports": "import asyncio, email.message, http.client, json, sqlite3, unittest, xml.dom.minidom",
    "sleeps": "import time\nfor i in range(100): time.sleep(0.01)",
    "loop": "s = 0\nfor i in range(5_000_000): s += i * i % 7",
}
COLLECTORS = ["time", "memory", "copies", "redundancy"]
PROGRAMS = ["fib", "pprint_alloc", "threads", "json_codec", "regex", "sqlite_zlib", "numpy_mixed", "asyncio_pingpong"]


def started(command, words, place, stderr, stdin=subprocess.DEVNULL):
    """command: (the file to execute, the name it is called by, options)."""
    file, *argv = map(str, command)
    environment = {**commands.environment(), "PADDING": "x" * (place % PADDING_MOST)}
    return subprocess.Popen([*argv, HERE / "placed.py", str(place), *map(str, words)], executable=file, env=environment,
                            text=True, bufsize=1, stdin=stdin, stdout=subprocess.PIPE, stderr=stderr)


def ended(process):
    """CPU seconds of its whole life, in the kernel too."""
    process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if status:
        raise SystemExit(f"{process.args} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def one_by_one(variants, words, errors, order):
    return {name: ended(started(variants[name], words, order.randrange(PLACES), errors[name]))
            for name in order.sample(list(variants), len(variants))}


def in_turns(variants, words, errors, order):
    processes = {name: started(variants[name], [*words, TURNS], order.randrange(PLACES), errors[name], subprocess.PIPE)
                 for name in order.sample(list(variants), len(variants))}
    for _ in range(TURNS):
        for name in order.sample(list(variants), len(variants)):
            processes[name].stdin.write("go\n")
            processes[name].stdout.readline()
    for process in processes.values():
        process.stdin.close()
    return {name: ended(process) for name, process in processes.items()}


def printed_s(text):
    found = re.search(r"overhead (?:\+(\d+) ms|[\d.]+ % \(([\d.]+) s[,)])", text)
    return float(found[1]) / 1000 if found[1] else float(found[2])


def one_round(options, words, run, order):
    """(bare, measured, printed) in seconds."""
    with tempfile.TemporaryDirectory() as folder, open(os.path.join(folder, "stderr"), "w+", encoding="utf-8") as said:
        form = ["--guest", "--python", options.python] if options.guest else []
        without = [f"--no-{name}" for name in options.without or []]
        profiled = [options.pieprof, options.pieprof, *form, "-o", f"{folder}/on.db", *without]
        bare = [options.python if options.guest else options.pieprof, options.python]
        variants = {"bare": bare, "on": profiled}
        if options.idle_thread:
            variants = {name: [*bare, HERE / "idle_thread.py", word] for name, word in (("bare", "alone"), ("on", "beside"))}
        cpu = run(variants, words, {"bare": subprocess.DEVNULL, "on": said}, order)
        said.seek(0)
        return cpu["bare"], cpu["on"] - cpu["bare"], 0.0 if options.idle_thread else printed_s(said.read())


def middle(values):
    """The mean without the tenth at either end. A median jumps where a program has two speeds."""
    cut = int(CUT * len(values))
    return statistics.fmean(sorted(values)[cut:len(values) - cut])


def bounds(values):
    """(low, high) of the middle."""
    draw = random.Random(1)
    drawn = sorted(middle(draw.choices(values, k=len(values))) for _ in range(DRAWS))
    cut = round(DRAWS * (1 - CONFIDENCE) / 2)
    return drawn[cut], drawn[-1 - cut]


def measure(options, words, run):
    """(bare, measured, printed, wrong, low, high) in seconds; the last two are the interval of the last but two."""
    order = random.Random(1)
    rounds = [one_round(options, words, run, order) for _ in range(options.rounds)]
    wrong = [printed - measured for _, measured, printed in rounds]
    return [*map(middle, zip(*rounds)), middle(wrong), *bounds(wrong)]


def goal_s(bare_s):
    return max(GOAL_S, GOAL_SHARE * bare_s)


def verdict(low, high, goal):
    """Of an interval of what may be too much or too little."""
    if -goal <= low and high <= goal:
        return "yes"
    return "no" if low > goal or high < -goal else "open"


def arguments(words=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pieprof", default=HERE.parent / "build" / "pieprof")
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--scale", type=float, default=0.1, help="of the programs' work; 1 is 2 to 3 seconds each")
    parser.add_argument("--guest", action="store_true", help="the interpreter with and without the core, as wheels have it")
    parser.add_argument("--idle-thread", action="store_true", help="no profiler, but a second thread")
    parser.add_argument("--without", action="append", choices=COLLECTORS, help="this collector off (may be repeated)")
    parser.add_argument("--only", action="append", choices=[*TEXTS, *PROGRAMS], help="this program (may be repeated)")
    return parser.parse_args(words)


def main():
    options = arguments()
    print("| program | bare s | measured ms | printed ms | wrong ms | points | reached |\n|---|---|---|---|---|---|---|")
    for name in options.only or [*TEXTS, *PROGRAMS]:
        with tempfile.TemporaryDirectory() as folder:
            text = pathlib.Path(folder, "program.py")
            text.write_text(TEXTS.get(name, ""), encoding="utf-8")
            words = [text] if name in TEXTS else [HERE / "programs" / f"{name}.py", options.scale]
            bare, measured, printed, wrong, low, high = measure(options, words, one_by_one if name in TEXTS else in_turns)
        print(f"| {name} | {bare:.3f} | {measured * 1e3:.0f} | {printed * 1e3:.0f} "
              f"| {wrong * 1e3:+.0f} ({low * 1e3:+.0f} to {high * 1e3:+.0f}) "
              f"| {100 * wrong / bare:+.1f} ({100 * low / bare:+.1f} to {100 * high / bare:+.1f}) "
              f"| {verdict(low, high, goal_s(bare))} |", flush=True)


if __name__ == "__main__":
    main()
