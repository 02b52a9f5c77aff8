#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The size of an empty program's file, and how long questions take.

small      bytes of the file of `-c pass`, and a question to it, more than pieprof takes to start: wall and CPU time.
           With --before, another pieprof takes turns with this one.
large      questions to a file of ten million samples, made up on a real program's contexts: in 32 slices, with some
           more rows than the writer keeps where it can (storage/write/slices.h)
"""

import argparse
import pathlib
import random
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests/tools"))
import packed  # noqa: E402

QUESTIONS = ("hot lines", "own lines", "functions", "libraries", "threads", "call tree", "own functions", "total lines",
             "callees of exec_module", "tree", "summary")
SAMPLES, SLICES, ROWS = 10_000_000, 32, 34_000


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pieprof", default=HERE.parent / "build" / "pieprof")
    parser.add_argument("--before", metavar="PIEPROF", help="small: ask this one too")
    parser.add_argument("--turns", type=int, default=30)
    return parser.parse_args()


def milliseconds(command):
    """Wall and CPU time."""
    begun, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
    wall, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall * 1e3, cpu * 1e3


def pair(pieprof, db, question):
    """Wall and CPU time, more than start-up."""
    answered, started = milliseconds([pieprof, "query", db, question]), milliseconds([pieprof, "--version"])
    return [a - b for a, b in zip(answered, started)]


def more_than_start(programs, db, question, turns):
    """For each program, median and range of the middle half, of pairs."""
    pairs = {program: [] for program in programs}
    for _ in range(turns):
        for program in programs:
            pairs[program].append(pair(program, db, question))
    for program in programs:
        parts = []
        for times in zip(*pairs[program]):
            low, middle, high = statistics.quantiles(times, n=4)
            parts.append(f"{middle:.1f} ms ({low:.1f} to {high:.1f})")
        yield f"{parts[0]}, CPU {parts[1]}"


def profile(options, db, program):
    db.unlink(missing_ok=True)
    subprocess.run([options.pieprof, "-q", "-o", db, "-c", program], check=True)
    return db.stat().st_size


def packed_slice(nodes, samples):
    """Rows of a slice as docs/file.md says: thread 1; samples of 6 ms in Python and 4 ms in native code each."""
    leb = packed.leb
    row = leb(2 + 4 + 16) + leb(samples * 6_000_000) + leb(samples * 4_000_000) + leb(samples)
    keys = [16384 + node for node in sorted(nodes)]
    return b"\1" + b"".join(leb(key - before) + row for key, before in zip(keys, [0, *(key + 1 for key in keys)]))


def make_large(options, db):
    """A real program's contexts, as if they had been met again and again for a day."""
    profile(options, db, "import json, re, sqlite3, decimal, email.parser, http.client, unittest, logging.config")
    draw = random.Random(1)
    with sqlite3.connect(db) as file:
        nodes = [node for node, in file.execute("select id from node where id < 16384")]
        width, each = SAMPLES // 100 // SLICES, min(len(nodes), ROWS // SLICES)
        of_row = SAMPLES // (each * SLICES)
        for table in "sample", "packed":
            file.execute(f"delete from {table}")
        for slice_ in range(SLICES):
            file.execute("insert into packed (process, slice_s, kind, block, rows) values (1, ?, 1, 0, ?)",
                         (slice_ * width, packed_slice(draw.sample(nodes, each), of_row)))
        end_ns = SLICES * width * 10**9
        file.execute("update process set slice_width_s = ?, seen_ns = started_ns + ?, ended_ns = started_ns + ?",
                     (width, end_ns, end_ns))
    print(f"large: {each * SLICES * of_row} samples in {each * SLICES} rows of {len(nodes)} contexts, {db.stat().st_size} bytes")


def main():
    options = arguments()
    options.pieprof = pathlib.Path(options.pieprof).resolve()
    with tempfile.TemporaryDirectory() as name:
        small, large = pathlib.Path(name) / "small.db", pathlib.Path(name) / "large.db"
        sizes = sorted(profile(options, small, "pass") for _ in range(9))
        print(f"small: {sizes[4]} bytes ({sizes[0]} to {sizes[-1]})")
        programs = [options.pieprof, *filter(None, [options.before])]
        for program, told in zip(("", " before"), more_than_start(programs, small, "hot lines", options.turns)):
            print(f"small: \"hot lines\"{program}, more than start-up: {told}", flush=True)
        make_large(options, large)
        for question in QUESTIONS:
            told, = more_than_start([options.pieprof], large, question, options.turns)
            print(f"large: \"{question}\", more than start-up: {told}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
