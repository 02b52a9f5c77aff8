# SPDX-License-Identifier: Apache-2.0
"""Running the built program and reading what it wrote.

Everything here goes through the command line and the documented JSON contract, as a user's script would; the only
other way to a profile is `Profile.sql`, which is `pieprof query DB "select ..."`.
"""

import collections
import contextlib
import functools
import json
import math
import os
import pathlib
import sqlite3
import subprocess
import sys
import typing

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import packed  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRUTH = pathlib.Path(__file__).resolve().parent / "truth"
FAULTS = pathlib.Path(__file__).resolve().parent / "faults"
PYTHON = os.environ.get("PIEPROF_PYTHON", "/usr/bin/python3")
# "guest": programs run in the real interpreter, with the core preloaded into it (docs/design/46-guest.md).
FORM = os.environ.get("PIEPROF_FORM", "embedding")


def binary():
    """The program under test: $PIEPROF_BINARY or $PIEPROF, else the one in the build tree. It need not exist."""
    named = os.environ.get("PIEPROF_BINARY") or os.environ.get("PIEPROF")
    return str(pathlib.Path(named or ROOT / "build" / "pieprof").resolve())


@functools.lru_cache(maxsize=None)
def has_own_python():
    """The program has none in a wheel; it then runs the interpreter that it finds."""
    return "cores for Python" not in run([binary(), "--version"]).stdout


def clean_environment(**more):
    """The environment without anything that steers Python or pieprof; a value of None leaves a name out.

    PATH is the system's own, so that `python3` is the interpreter that pieprof was built for."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PIEPROF", "PYTHON", "VIRTUAL_ENV"))}
    kept["PATH"] = os.pathsep.join([os.path.dirname(PYTHON), "/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"])
    if FORM == "guest":
        kept.update(PIEPROF_OPTS="--guest", PIEPROF_CORES=os.path.dirname(binary()))
    kept.update(more)
    return {k: v for k, v in kept.items() if v is not None}


def run(argv, timeout=120, env=None, **more):
    """Runs a command to its end and returns the CompletedProcess with text output; never raises for its status."""
    return subprocess.run([str(a) for a in argv], capture_output=True, text=True, errors="surrogateescape",
                          timeout=timeout, env=env or clean_environment(), **more)


def query(db, text, timeout=60):
    """The rows that `pieprof query DB TEXT --json` prints, as dicts."""
    done = run([binary(), "query", db, text, "--json"], timeout=timeout)
    assert done.returncode == 0, f"query {text!r} ended with {done.returncode}: {done.stderr}"
    answer = json.loads(done.stdout)
    assert answer["schema"] == 1 and answer["query"].split() == text.split(), answer
    return answer["rows"]


class Frame(typing.NamedTuple):
    is_python: bool
    function: str  # None: no symbol
    file: str
    line: int
    module: str  # path of the ELF file; native frames


class Sample(typing.NamedTuple):
    """What one thread spent in one calling context; frames are outermost first."""

    frames: tuple
    thread: int
    samples: int
    python_s: float
    native_s: float
    system_s: float
    wait_s: float

    @property
    def cpu_s(self):
        return self.python_s + self.native_s + self.system_s

    @property
    def python_path(self):
        return tuple((f.function, f.line) for f in self.frames if f.is_python)


def read_samples(db):
    """The table `sample`, summed over slices of time, with call paths: native and Python frames as they were merged."""
    with contextlib.closing(sqlite3.connect(f"file:{db}?mode=ro", uri=True)) as file:
        frames = {(p, i): (parent, Frame(kind == 1, name, path, line, module)) for p, i, parent, kind, name, path, line,
                  module in file.execute("""
            SELECT n.process, n.id, n.parent, u.kind, u.name, f.path, l.line, m.path FROM node n
            JOIN location l ON l.process = n.process AND l.id = n.location
            JOIN function u ON u.process = l.process AND u.id = l.function
            LEFT JOIN file f ON f.process = u.process AND f.id = u.file
            LEFT JOIN module m ON m.process = u.process AND m.id = u.module""")}

        def path(process, node):
            found = []
            while node is not None:
                node, frame = frames[process, node]
                found.append(frame)
            return tuple(reversed(found))

        sums = collections.defaultdict(lambda: [0] * 5)
        for row in packed.rows_of(file, "sample"):
            of_node = sums[row["process"], row["node"], row["thread"]]
            for i, name in enumerate(("samples", "python_ns", "native_ns", "system_ns", "wait_ns")):
                of_node[i] += row[name]
        return [Sample(path(process, node), thread, samples, *(ns / 1e9 for ns in times))
                for (process, node, thread), (samples, *times) in sorted(sums.items())]


class Profile:
    """One finished `pieprof ... program` and the file it left."""

    def __init__(self, db, completed):
        self.db = pathlib.Path(db)
        self.completed = completed

    @property
    def truth(self):
        """What the program itself printed: its last line of stdout is a JSON object."""
        return json.loads(self.completed.stdout.strip().splitlines()[-1])

    def query(self, text):
        return query(self.db, text)

    def sql(self, statement):
        return query(self.db, statement)

    def samples(self):
        return read_samples(self.db)

    def lines(self, file=None):
        """Every profiled line (not only the first ten), as the rows of "hot lines"."""
        rows = self.query("top 100000 hot lines")
        return [r for r in rows if file is None or r["file"] == str(file)]

    @property
    def program_share(self):
        """Of the CPU time that the threads' own clocks show: what is left without the profiler's handlers and signals,
        which such a clock cannot tell from the program. 37 us a millisecond were measured in a busy virtual machine."""
        (row,) = self.sql("select (select sum(clock_cpu_s) from v_thread) clock_s, (select sum(cpu_s) from v_overhead "
                          "where collector in ('time', 'redundancy', 'memory', 'copies', 'learning')) own_s")
        return 1 - row["own_s"] / row["clock_s"]

    def functions(self, file=None):
        rows = self.query("top 100000 hot functions")
        return [r for r in rows if file is None or r["file"] == str(file)]


@functools.cache
def python_minor():
    """12 of Python 3.12: the real interpreter's."""
    return int(run([PYTHON, "-c", "import sys; print(sys.version_info[1])"]).stdout)


@functools.cache
def python_abi():
    """3.12, and 3.14t without the GIL: the real interpreter's."""
    ask = "import sys, sysconfig; print(sys.version_info[1], 't' * bool(sysconfig.get_config_var('Py_GIL_DISABLED')), sep='')"
    return "3." + run([PYTHON, "-c", ask]).stdout.strip()


@functools.cache
def has_numpy():
    """Has the real interpreter NumPy?"""
    return run([PYTHON, "-c", "import numpy"]).returncode == 0


# For figures that need all samples of a run of more than two seconds: else they are further apart, within the budget.
FIXED_RATES = ("--overhead", "0")


def profile(db, *command, options=(), timeout=120, env=None, check=True, **more):
    """Runs `pieprof -q -o DB OPTIONS COMMAND...`; with check the program has to end with status 0. Skips where the
    program wants NumPy and the real interpreter has none."""
    argv = [binary(), "-q", "-o", db, *options, *command]
    completed = run(argv, timeout=timeout, env=env, **more)
    if check and "No module named 'numpy'" in completed.stderr and not has_numpy():
        import pytest  # what else uses this file need not have it
        pytest.skip(f"{PYTHON} has no NumPy")
    if check:
        assert completed.returncode == 0, f"{argv} ended with {completed.returncode}: {completed.stderr}"
    return Profile(db, completed)


def is_made(db):
    """A run is in it: a file is empty for a moment after it was made."""
    if not db.exists():
        return False
    with contextlib.closing(sqlite3.connect(db, timeout=10)) as file:
        has_tables = file.execute("SELECT 1 FROM sqlite_master WHERE name = 'process'").fetchall()
        return bool(has_tables and file.execute("SELECT 1 FROM process").fetchall())


def check_file(db):
    """The file is a sound database, by SQLite's own word and by pieprof's; returns the rows of v_run."""
    runs = query(db, "select * from v_run order by run")
    with contextlib.closing(sqlite3.connect(db)) as file:
        assert file.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert file.execute("PRAGMA foreign_key_check").fetchall() == []
    return runs


def accounts(db):
    """Of each process: `program_s`, CPU time told of its threads, `own_s`, what the profiler took in them, and
    `clock_s`, what their own clocks show. Where nothing is lost the first two add up to the third, however dear a
    signal is."""
    return query(db, "select p.process, p.cause, p.exit_status, p.cpu_s program_s, (select sum(t.clock_cpu_s) from v_thread t "
                 "where t.process = p.process) clock_s, (select sum(o.cpu_ns) / 1e9 from overhead o where o.process = p.process "
                 "and o.collector in ('time', 'redundancy', 'memory', 'copies', 'learning')) own_s from v_process p "
                 "order by p.process")


def total(rows, key):
    """Sum of a column; a missing measurement (null) is not a zero and fails here."""
    values = [r[key] for r in rows]
    assert None not in values, f"{key} is null in {rows}"
    return math.fsum(values)


def split(rows):
    """CPU seconds of rows by where they were spent, with their sum and the number of samples."""
    parts = {kind: total(rows, kind + "_s") for kind in ("python", "native", "system")}
    return {**parts, "cpu": math.fsum(parts.values()), "samples": sum(r["samples"] for r in rows)}


def binomial_margin(share, samples, sigmas=4.0):
    """Half width of the interval in which a share estimated from this many samples lies; 4 sigmas: 1 miss in 16000."""
    return sigmas * math.sqrt(share * (1 - share) / samples) if samples else 1.0


def line_of(file, marker):
    """The 1-based number of the only line of a program that ends in `# <marker>`."""
    found = [n for n, text in enumerate(pathlib.Path(file).read_text().splitlines(), 1)
             if text.rstrip().endswith("# " + marker)]
    assert len(found) == 1, f"{marker!r} marks lines {found} of {file}"
    return found[0]
