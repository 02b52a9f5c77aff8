#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""usage: bench/exports.py BUILD [CONTEXTS]: makes a profile of that many calling contexts (a million) of 2000
functions, each with CPU time, a third of them with waiting. Exports it in each format; prints CPU time, peak memory
and size."""

import os
import pathlib
import random
import resource
import sqlite3
import subprocess
import sys
import tempfile

FUNCTIONS, LINES = 2000, 3
FORMATS = ("collapsed", "speedscope", "pprof", "firefox", "perfetto", "callgrind", "pstats", "svg", "csv", "json", "md")


def parents(count):
    """The parent of each context, 0 for none: a tree that is some 30 deep."""
    chance = random.Random(1)
    return [0 if i <= 3 else chance.randint(max(1, i // 8), i - 1) for i in range(1, count + 1)]


def make_profile(build, folder, contexts):
    path = folder / "many.db"
    subprocess.run([build / "tests/storage/make_fixture", path, folder / "source"], check=True)
    file = sqlite3.connect(path)
    (process, source), = file.execute("SELECT process, min(id) FROM file")
    first = {table: file.execute(f"SELECT max(id) FROM {table}").fetchone()[0] for table in ("function", "location", "node")}
    file.executescript("DELETE FROM packed; DELETE FROM sample")
    file.executemany("INSERT INTO function (process, id, kind, name, file, first_line) VALUES (?, ?, 1, ?, ?, ?)",
                     ((process, first["function"] + i, f"function_{i}", source, 10 * i) for i in range(1, FUNCTIONS + 1)))
    file.executemany("INSERT INTO location (process, id, function, line) VALUES (?, ?, ?, ?)",
                     ((process, first["location"] + 1 + i, first["function"] + 1 + i // LINES, 10 * (i // LINES) + i % LINES)
                      for i in range(FUNCTIONS * LINES)))
    chance = random.Random(2)
    file.executemany("INSERT INTO node (process, id, parent, location) VALUES (?, ?, ?, ?)",
                     ((process, first["node"] + i, first["node"] + parent if parent else None,
                       first["location"] + 1 + chance.randrange(FUNCTIONS * LINES))
                      for i, parent in enumerate(parents(contexts), 1)))
    file.executemany("INSERT INTO sample (process, node, thread, samples, wait_samples, python_ns, native_ns, system_ns, wait_ns, "
                     "cpu_sq_ns2) VALUES (?, ?, 1, 1, 0, ?, 0, 0, ?, 1)",
                     ((process, first["node"] + i, chance.randrange(1, 5_000_000), i % 3 == 0) for i in range(1, contexts + 1)))
    file.commit()
    file.close()
    return path


def measure(command):
    """(CPU s, peak MB) of a command."""
    child = subprocess.Popen(list(map(str, command)))
    _, status, used = os.wait4(child.pid, 0)
    if status:
        raise SystemExit(f"{command} ended with {status}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e6


def main():
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    build = pathlib.Path(sys.argv[1]).resolve()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        profile = make_profile(build, folder, int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000)
        for which in FORMATS:
            out = folder / "out"
            cpu_s, peak_mb = measure([build / "pieprof", "export", profile, "-f", which, "-o", out])
            print(f"BenchmarkExport/{which} 1 {cpu_s:.2f} cpu-s {peak_mb:.0f} peak-MB {out.stat().st_size / 1e6:.1f} file-MB", flush=True)


main()
