#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a tree of processes costs, and whether anything of it is lost.

children  what a child costs that does nothing, more than under python3: programs of the two take turns, each starts
          --children of them; differences within a round, median over the rounds with the lowest and the highest.
          CPU time is that of the children (user and system, with the profiler's threads), wall time is the parent's.
          With --before, more than under another pieprof.
writers   --writers children that write into one file at once: is each there, has it ended, does the file have the CPU
          time that each measured itself?
merge     --files files of a process each: time and memory of `pieprof merge`, for a quarter of them and all.

Threads: bench/many_threads.py.
"""

import argparse
import json
import pathlib
import random
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import commands  # noqa: E402
import report  # noqa: E402

KINDS = ("subprocess", "fork + exec", "os.fork", "multiprocessing fork", "multiprocessing spawn")
PARTS = ("children", "writers", "merge")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pieprof", default=HERE.parent.parent / "build" / "pieprof")
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--before", metavar="PIEPROF", help="children: compare with this one instead of python3")
    parser.add_argument("--part", action="append", choices=PARTS, help="this part (may be repeated)")
    parser.add_argument("--kind", action="append", choices=KINDS, help="children of this kind (may be repeated)")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--children", type=int, default=8, help="in a round, one after the other")
    parser.add_argument("--writers", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=0.5, help="of CPU time that each writer burns")
    parser.add_argument("--files", type=int, default=1000)
    options = parser.parse_args()
    options.part = options.part or PARTS
    options.kind = options.kind or KINDS
    return options


def output_of(command):
    return commands.check(subprocess.run([str(w) for w in command], capture_output=True, text=True,
                                         env=commands.environment())).stdout


def measure_children(options, kind, folder):
    """[(python3's or the other pieprof's, this one's figures) for each round]"""
    program = [HERE / "children.py", kind, options.children]
    order, rounds = random.Random(1), []
    for number in range(options.rounds):
        db = folder / f"{number}.db"
        before = [options.before, "-q", "-o", db.with_suffix(".before")] if options.before else [options.python]
        choices = [before, [options.pieprof, "-q", "-o", db]]
        found = {}
        for i in order.sample(range(2), 2):
            found[i] = json.loads(output_of([*choices[i], *program]))
        rounds.append((found[0], found[1]))
        for path in (db, db.with_suffix(".before")):
            path.unlink(missing_ok=True)
    report.progress(kind)
    return rounds


def children(options, folder):
    rows = []
    for kind in options.kind:
        rounds = measure_children(options, kind, folder)
        plain = statistics.median(p["cpu_s"] for p, _ in rounds)
        more = {key: [(q[key] - p[key]) * 1e3 for p, q in rounds] for key in rounds[0][0]}
        rows.append([kind, f"{plain * 1e3:.1f}", *(report.spread(more[key], "{:+.1f}") for key in
                                                   ("cpu_s", "wall_s", "parent_cpu_s"))])
    header = ["started by", f"{'before' if options.before else 'python3'}, CPU ms", "CPU ms more", "wall ms more", "CPU ms more in the parent"]
    return report.table("What a child costs that does nothing", header, rows)


def query(options, db, sql):
    return json.loads(output_of([options.pieprof, "query", "--json", db, sql]))["rows"]


def writers(options, folder):
    db = folder / "writers.db"
    command = [options.pieprof, "-q", "-o", db, HERE / "writers.py", options.writers, options.seconds]
    truth = dict(line.split() for line in output_of(command).splitlines())
    rows = query(options, db, "select p.pid, p.cause, t.cpu_ns / 1e9 as clock_s, (select sum(python_ns + native_ns + "
                 "system_ns) / 1e9 from sample s where s.process = p.id) as sampled_s from process p join thread t "
                 "on t.process = p.id where t.is_main and p.parent is not null")
    found = {str(row["pid"]): row for row in rows}
    drops = query(options, db, "select name, sum(value) as n from counter where is_drop group by name")
    clocks = [found[pid]["clock_s"] / float(cpu_s) for pid, cpu_s in truth.items() if pid in found]
    sampled = [(found[pid]["sampled_s"] or 0) / float(cpu_s) for pid, cpu_s in truth.items() if pid in found]
    ended = sum(1 for pid in truth if pid in found and found[pid]["cause"] == "_exit")
    return report.table("Writers of one file at once", ["", ""], [
        ["started, in the file, ended there", f"{options.writers}, {len(clocks)}, {ended}"],
        ["clock in the file / the child's own", report.spread(clocks)],
        ["samples in the file / the child's own clock", report.spread(sampled)],
        ["dropped", ", ".join(f"{row['name']} {row['n']}" for row in drops) or "nothing"]])


def make_files(options, folder):
    """A few runs; their copies get identities of their own, as ranks of as many runs would have."""
    made = []
    for number in range(options.files):
        path = folder / f"part{number}.db"
        if number < 10:
            output_of([options.pieprof, "-q", "-o", path, "-c", "import json, re"])
        else:
            shutil.copy(made[number % 10], path)
            with sqlite3.connect(path) as file:
                file.execute("update run set identity = lower(hex(randomblob(16)))")
        made.append(path)
    return made


# In a process of its own, which is small: what a child had before its exec counts for its peak.
SPAWN = """
import json, os, sys, time
begun = time.perf_counter()
quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
_, status, usage = os.wait4(os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=quiet), 0)
print(json.dumps([status, usage.ru_utime + usage.ru_stime, time.perf_counter() - begun, usage.ru_maxrss * 1024]))
"""


def timed_merge(options, folder, paths):
    """CPU and wall seconds, and the most memory in bytes, of one merge."""
    out = folder / "all.db"
    status, *figures = json.loads(output_of([options.python, "-c", SPAWN, options.pieprof, "merge", out, *paths]))
    if status:
        raise SystemExit(f"pieprof merge ended with status {status}")
    processes = query(options, out, "select count(*) as n from process")[0]["n"]
    if processes != len(paths):
        raise SystemExit(f"{len(paths)} files gave {processes} processes")
    out.unlink()
    return figures


def merge(options, folder):
    paths = make_files(options, folder)
    rows = []
    for count in (max(1, options.files // 4), options.files):
        cpu, wall, memory = timed_merge(options, folder, paths[:count])
        rows.append([str(count), f"{cpu / count * 1e3:.1f}", f"{wall / count * 1e3:.1f}", f"{memory / 1e6:.1f}"])
    return report.table("Merging files", ["files", "CPU ms a file", "wall ms a file", "memory, MB"], rows)


def main():
    options = arguments()
    options.pieprof = pathlib.Path(options.pieprof).resolve()
    with tempfile.TemporaryDirectory() as name:
        for part, measure in (("children", children), ("writers", writers), ("merge", merge)):
            if part in options.part:
                print(measure(options, pathlib.Path(name)) + "\n", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
