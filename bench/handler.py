#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What one sample of time costs in the signal handler, by part: instructions as callgrind counts them, and the system
calls that strace sees. Wall time plays no part, so a busy machine does not disturb it. Watchpoints are off, since
callgrind has none, and so are memory and copies, whose cost is not in this handler.

    bench/handler.py --pieprof build/pieprof                      # all programs
    bench/handler.py --before OLD/pieprof --only task             # two builds, one after the other
"""

import argparse
import collections
import pathlib
import subprocess
import sys
import tempfile

import commands

OPTIONS = ["-q", "--overhead", "0", "--no-memory", "--no-copies", "--sampler", "none"]
SECONDS = (1, 4)  # of the thread's CPU time under callgrind, not counted and counted; samples come with the kernel's tick
WARM = "getloadavg"  # what a program calls between the two
# name: a program that works while left()
PROGRAMS = {
    "shallow": "while left(): work()",
    "deep": """def down(depth):
    if depth: return down(depth - 1)
    while left(): work()
down(60)""",
    "deep through C": """import functools
def down(depth, _=None):
    if depth: return functools.reduce(down, (depth - 1, None))
    while left(): work()
down(20)""",
    "task": """import asyncio
async def step(): work()
async def main():
    while left(): await step()
asyncio.run(main())""",
    "task with a name": """import asyncio
async def main():
    asyncio.current_task().set_name("the one that works")
    while left(): work()
asyncio.run(main())""",
    "max of 31": "some = list(range(31))\nwhile left():\n    for _ in range(300): max(some)",
    "max of 4096": "some = list(range(4096))\nwhile left():\n    for _ in range(9): max(some)",
    "sorted of 4096": "some = list(range(4096))\nwhile left():\n    for _ in range(9): sorted(some)",
    "a long argument": "text = 'ab' * 4000\nwhile left():\n    for _ in range(99): text.count('c')",
}
HEAD = """import os, sys, time
warm, counted = map(float, sys.argv[1:])
begun, is_warm = None, False
def left():
    global begun, is_warm
    now = time.thread_time()
    begun = begun or now
    if not is_warm and now > begun + warm:
        os.getloadavg()
        begun, is_warm = now, True
    return not is_warm or now < begun + counted
def work():
    x = 1
    for _ in range(1000): x = (x * 75 + 74) % 65537
"""
# part: the functions whose calls it consists of
PARTS = {
    "native unwinding": ("pie_unwind",),
    "Python stack": ("pie_pyframe_walk_current",),
    "merging, names of code": ("pie_hybrid_merge",),
    "context lookup": ("pie_call_path_insert",),
    "task": ("pie_sample_task_find",),
    "garbage collection": ("pie_collections_generation",),
    "record of time": ("pie_time_sampled",),
    "copy loops": ("pie_copy_loop_sampled",),
    "the call's reading": ("pie_reads_sampled",),
    "watching": ("pie_watch_after_sample",),
}
# What is done once, and the part in which it is called: each is a row of its own, since a long run hardly has any.
ONCE = {
    "once for each address: frame information": ("pie_cfi_find", "native unwinding"),
    "once for each code object: its names": ("pie_code_content_read", "merging, names of code"),
    "once for each code object: its record": ("pie_code_store_add", "merging, names of code"),
    "once for each call: its operands": ("scan_code", "the call's reading"),
}
ENTRY = "pie_signals_on_clock"
SAMPLE = "pie_sample_take"
SYSTEM_CALLS = ("clock_gettime", "sigaltstack", "rt_sigprocmask", "rt_sigpending", "ioctl")


def callgrind(pieprof, program, folder):
    """{part: instructions of a sample} and the number of samples."""
    run = [pieprof, *OPTIONS, "--clock", "timer", "-o", f"{folder}/x.db", program, *SECONDS]
    found = commands.functions(run, folder, WARM)
    samples = found.get(SAMPLE, (0, 0))[0]
    if not samples:
        raise SystemExit("callgrind saw no sample")

    def each(*names):
        return sum(found.get(name, (0, 0))[1] for name in names) / samples

    parts = {part: each(*names) for part, names in PARTS.items()}
    rest = each(SAMPLE) - sum(parts.values())
    once = {what: each(name) for what, (name, _) in ONCE.items()}
    for what, (_, part) in ONCE.items():
        parts[part] -= once[what]
    usual = each(ENTRY) - sum(once.values())
    return {"whole": usual, "entry and end": each(ENTRY) - each(SAMPLE), **parts, "the rest": rest, **once}, samples


def system_calls(pieprof, program, folder):
    """{name: number for each signal} with the usual clock of this machine; {} without strace."""
    try:
        subprocess.run(["strace", "-o", f"{folder}/calls", pieprof, *OPTIONS, "-o", f"{folder}/y.db", program, "0", "1"], check=True,
                       capture_output=True, env=commands.environment())  # fmt: skip
    except (OSError, subprocess.CalledProcessError):
        return {}
    lines = pathlib.Path(folder, "calls").read_text(encoding="utf-8", errors="replace").splitlines()
    at, seen, signals = False, collections.Counter(), 0
    for line in lines:
        if line.startswith("--- SIG"):
            at, signals = True, signals + 1
        elif line.startswith("rt_sigreturn"):
            at = False
        elif at:
            seen[line.split("(", 1)[0]] += 1
    return {name: seen[name] / signals for name in SYSTEM_CALLS if seen[name]} if signals else {}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pieprof", type=pathlib.Path, default="build/pieprof")
    parser.add_argument("--before", type=pathlib.Path, help="another build, measured first")
    parser.add_argument("--only", metavar="NAME", action="append", choices=PROGRAMS, help="this program (may be repeated)")
    return parser.parse_args()


def measure(pieprof, name):
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "program.py")
        program.write_text(HEAD + PROGRAMS[name] + "\n", encoding="utf-8")
        each, samples = callgrind(pieprof.resolve(), program, folder)
        return each, samples, system_calls(pieprof.resolve(), program, folder)


def main():
    options = arguments()
    builds = [path for path in (options.before, options.pieprof) if path]
    columns = {}
    for name in options.only or PROGRAMS:
        found = [measure(path, name) for path in builds]
        columns[name] = [each for each, _, _ in found]
        print(name, *(f"{samples} samples, system calls of a signal: {calls}" for _, samples, calls in found), sep="\n  ",
              file=sys.stderr, flush=True)
    print("| instructions of a sample |", " | ".join(columns), "|\n|---|" + "---|" * len(columns))
    for part in ("whole", "entry and end", *PARTS, "the rest", *ONCE):
        texts = [" → ".join(f"{each[part]:.0f}" for each in some) for some in columns.values()]
        print(f"| {part} |", " | ".join(texts), "|")
    return 0


if __name__ == "__main__":
    sys.exit(main())
