#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The cost of pieprof, as paired ratios of processes that take turns.

Every program of programs/ runs under the system's python3, a bare embedder of Python, pieprof with its profile off
and pieprof at 1 kHz (time and redundancy), and again with memory and copies: all of them at once, but only one at work,
each doing a tenth of a second or so in its turn, in a new order every time. A ratio is taken between turns that follow
each other, so that a slow second of the machine slows both; its median over the turns is the round's. New processes are
made for each round; the median and the range over the rounds are shown. See README.md.

With --before, only two versions of pieprof take turns: off, at 1 kHz, and with everything on. That is how a change that
should cost nothing is checked.
"""

import argparse
import os
import pathlib
import random
import sys
import tempfile

import commands
import report

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = ["fib", "nbody", "generators", "deep", "pprint_alloc", "asyncio_pingpong", "threads", "json_codec", "unpickle",
            "regex", "sqlite_zlib", "numpy_mixed"]
PARTS = ("programs", "memory", "startup", "files", "instructions")
NO_TIME = ["--no-time", "--no-redundancy"]
NO_MEMORY = ["--no-memory", "--no-copies"]
SETTINGS = {"off": [*NO_TIME, *NO_MEMORY], "1khz": ["-r", "1khz", *NO_MEMORY], "all": []}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("embedder", nargs="*", help="bare embedders: embedder-static, embedder-shared")
    parser.add_argument("--pieprof", default=HERE.parent / "build" / "pieprof")
    parser.add_argument("--linkage", choices=["static", "shared"], default="static", help="of that pieprof's libpython")
    parser.add_argument("--before", metavar="PIEPROF", help="compare with this other pieprof only, in turns")
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--rounds", type=int, default=5, help="of new processes")
    parser.add_argument("--turns", type=int, default=20, help="parts of a program's work in which processes take turns")
    parser.add_argument("--starts", type=int, default=50, help="runs of `-c pass`")
    parser.add_argument("--scale", type=float, default=1.0, help="of the programs' work; 1 is 2 to 3 seconds each")
    parser.add_argument("--only", metavar="NAME", action="append", choices=PROGRAMS, help="this program (may be repeated)")
    parser.add_argument("--part", action="append", choices=PARTS, help="this part of the measurement (may be repeated)")
    parser.add_argument("--go", action="store_true", help="lines in the Go benchmark format, for benchstat")
    parser.add_argument("--markdown", metavar="FILE", help="also write the tables there")
    options = parser.parse_args()
    options.only = options.only or PROGRAMS
    options.part = options.part or PARTS
    return options


def variants(options, folder):
    """name: command before the program. The embedder that is compared with is the one linked as pieprof is."""
    found = {"python3": [options.python]}
    for path in options.embedder:
        found[os.path.basename(path)] = [path]
    for setting in ("off", "1khz"):
        found[setting] = [options.pieprof, "-q", *SETTINGS[setting], "-o", folder / f"{setting}.db"]
    return {name: [str(word) for word in command] for name, command in found.items()}


def before_variants(options, folder):
    """Both pieprofs with each of the settings."""
    return {f"{when} {setting}": [str(pieprof), "-q", *words, "-o", str(folder / f"{when}-{setting}.db")]
            for when, pieprof in (("before", options.before), ("now", options.pieprof))
            for setting, words in SETTINGS.items()}


def memory_variants(options, folder):
    """What memory and copies cost alone, on either allocator, and everything together."""
    found = {"off": [*NO_TIME, *NO_MEMORY], "memory": NO_TIME, "jemalloc": [*NO_TIME, "--allocator=jemalloc"], "all": []}
    return {name: [str(options.pieprof), "-q", "-o", str(folder / f"{name}.db"), *words] for name, words in found.items()}


def measure_programs(options, choices, go):
    """{program: {variant: [[(wall s, CPU s) of each turn] for each round]}}"""
    orders = random.Random(1)
    times = {program: {name: [] for name in choices} for program in options.only}
    for number in range(options.rounds):
        for program in options.only:
            words = [HERE / "programs" / f"{program}.py", options.scale]
            found = commands.timed_turns({n: [*c, *words] for n, c in choices.items()}, options.turns, orders)
            for name, turns in found.items():
                times[program][name].append(turns)
                wall, cpu = (sum(part) for part in zip(*turns))
                go(report.go_line(program, name, wall, cpu))
                report.progress(f"round {number + 1}/{options.rounds} {program} {name} {wall:.3f} s")
    return times


def measure_starts(options, choices, go):
    """{variant: [s for each start]}, the whole life of a process that does nothing."""
    order = random.Random(2)
    times = {name: [] for name in choices}
    for _ in range(options.starts):
        for name in order.sample(list(choices), len(choices)):
            seconds = commands.timed_process([*choices[name], "-c", "pass"])
            times[name].append(seconds)
            go(report.go_line("startup", name, seconds))
    return times


def measure_files(options, folder):
    """{program: (bytes, s, bytes, s) of a short and of a four times longer profile}"""
    found = {}
    for program in options.only:
        sizes = []
        for factor in (1, 4):
            db = folder / f"{program}-{factor}.db"
            command = [str(options.pieprof), "-q", "-o", str(db), HERE / "programs" / f"{program}.py"]
            wall, _ = commands.timed_program([*command, options.scale * factor])
            sizes += [db.stat().st_size, wall]
            db.unlink()
        found[program] = tuple(sizes)
        report.progress(f"file of {program}: {sizes[0]} and {sizes[2]} bytes")
    return found


def main():
    options = arguments()
    lines = []

    def go(line):
        lines.append(line)
        if options.go:
            print(line, flush=True)

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        choices = variants(options, folder)
        tables = [report.machine(options)]
        if options.before:
            choices = before_variants(options, folder)
            tables.append(report.before(measure_programs(options, choices, go), SETTINGS))
            options.part = ()
        baseline = f"embedder-{options.linkage}" if f"embedder-{options.linkage}" in choices else None
        if "programs" in options.part:
            tables.append(report.programs(measure_programs(options, choices, go), baseline))
        if "memory" in options.part:
            tables.append(report.memory(measure_programs(options, memory_variants(options, folder), go)))
        if "startup" in options.part:
            tables.append(report.starts(measure_starts(options, choices, go)))
        if "files" in options.part:
            tables.append(report.files(measure_files(options, folder)))
        if "instructions" in options.part:
            still = {n: c for n, c in choices.items() if n != "1khz"}
            still["guest"] = commands.with_core(options.pieprof, choices["python3"][0])
            counted = commands.instructions(still, HERE / "programs" / "mixed.py")
            tables.append(report.instructions(counted))
    text = "\n\n".join(tables) + "\n"
    if not options.go:
        print(text)
    if options.markdown:
        pathlib.Path(options.markdown).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
