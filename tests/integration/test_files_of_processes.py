# SPDX-License-Identifier: Apache-2.0
"""A file for each process (--per-process, %p in the name), on request and where files cannot be locked; and merge,
which makes one of them."""

import contextlib
import os
import shutil
import sqlite3
import subprocess

import pytest
from helpers import clean_environment, query, run

TREE = """
import os, subprocess, sys
def spin(n):
    total = 0
    for i in range(n):
        total += i * i
    return total
spin(3_000_000)
if len(sys.argv) < 2:
    subprocess.run([sys.executable, __file__, "child"], check=True)
    pid = os.fork()
    if pid == 0:
        spin(3_000_000)
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
print("done")
"""

# A file system on which nothing can be locked, as SQLite and the program itself see it.
NO_LOCKS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
static int call(const char *name, int fd, int command, void *argument) {
    int (*next)(int, int, ...) = (int (*)(int, int, ...))dlsym(RTLD_NEXT, name);
    if (command == F_SETLK || command == F_SETLKW || command == F_GETLK || command == F_OFD_SETLK) {
        errno = ENOLCK;
        return -1;
    }
    return next(fd, command, argument);
}
#define FAKE(name) int name(int fd, int command, ...) { va_list list; va_start(list, command); \\
    void *argument = va_arg(list, void *); va_end(list); return call(#name, fd, command, argument); }
FAKE(fcntl)
FAKE(fcntl64)
"""


@pytest.fixture
def tree(tmp_path):
    path = tmp_path / "tree.py"
    path.write_text(TREE)
    return path


def library(folder, source, what_it_does):
    """Of C source, to be preloaded."""
    if not shutil.which("cc"):
        pytest.skip(f"no C compiler for the library that {what_it_does}")
    (folder / "preloaded.c").write_text(source)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", folder / "preloaded.so", folder / "preloaded.c", "-ldl"], check=True)
    return folder / "preloaded.so"


@pytest.fixture(scope="module")
def no_locks(tmp_path_factory):
    return library(tmp_path_factory.mktemp("nolocks"), NO_LOCKS, "fails to lock")


def files_of(folder, pattern):
    assert not list(folder.glob(pattern + "-wal")) and not list(folder.glob(pattern + "-shm"))
    return sorted(p for p in folder.glob(pattern) if not p.name.endswith("-journal"))


def check_tree(db):
    """Root, a child that was started and one that was forked, as in one file."""
    rows = query(db, "processes")
    assert len(query(db, "runs")) == 1 and len(rows) == 3
    root, started, forked = rows
    assert root["parent"] is None and (root["cause"], root["exit_status"]) == ("exit", 0)
    assert (started["parent"], started["parent_pid"]) == (root["process"], root["pid"])
    assert (forked["parent"], forked["parent_pid"], forked["exit_status"]) == (root["process"], root["pid"], 7)
    assert started["command"].endswith("tree.py child")
    lines = {row["line"]: row for row in query(db, "hot lines in tree.py")}
    assert lines[6]["samples"] > 0
    return [(row["parent"], row["cause"], row["exit_status"], row["threads"], row["command"]) for row in rows]


def test_each_process_has_a_file_and_merge_makes_one(pieprof, tree, tmp_path):
    done = run([pieprof, "-o", "each.db", "--per-process", "-q", tree], cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\ndone\n", "")
    parts = files_of(tmp_path, "each.db*")
    host = os.uname().nodename
    assert len(parts) == 3
    for part in parts:
        (row,) = query(part, "processes")
        assert part.name == f"each.db.{host}.{row['pid']}" and row["parent"] is None
    assert run([pieprof, "merge", tmp_path / "out.db", *parts]).returncode == 0
    assert run([pieprof, "-o", "one.db", "-q", tree], cwd=tmp_path).returncode == 0
    assert check_tree(tmp_path / "out.db") == check_tree(tmp_path / "one.db")


def test_a_place_for_the_pid_in_the_name_asks_for_it(pieprof, tree, tmp_path):
    done = run([pieprof, "-o", "prof.%p.100%%.db", tree], cwd=tmp_path)
    assert done.returncode == 0 and "cannot" not in done.stderr
    parts = files_of(tmp_path, "prof.*.100%.db")
    assert sorted(int(p.name.split(".")[1]) for p in parts) == sorted(query(p, "processes")[0]["pid"] for p in parts)
    assert run([pieprof, "merge", tmp_path / "out.db", *reversed(parts)]).returncode == 0
    check_tree(tmp_path / "out.db")


def test_two_runs_stay_two(pieprof, tmp_path):
    for _ in range(2):
        assert run([pieprof, "-o", "a.%p.db", "-q", "-c", "pass"], cwd=tmp_path).returncode == 0
    assert run([pieprof, "merge", tmp_path / "out.db", *files_of(tmp_path, "a.*.db")]).returncode == 0
    assert [row["processes"] for row in query(tmp_path / "out.db", "runs")] == [1, 1]


@pytest.mark.parametrize("words, variables", [
    (["--run-name", "my job"], {}),
    ([], {"PMIX_NAMESPACE": "prterun-host-1@1"}),
    ([], {"SLURM_JOB_ID": "12", "SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "2"})])
def test_ranks_are_one_run(pieprof, tmp_path, words, variables):
    for _ in range(2):
        done = run([pieprof, "-o", "rank.%h.%p.db", "-q", *words, "-c", "pass"], cwd=tmp_path,
                   env=clean_environment(**variables))
        assert done.returncode == 0
    parts = files_of(tmp_path, f"rank.{os.uname().nodename}.*.db")
    assert len(parts) == 2 and run([pieprof, "merge", tmp_path / "out.db", *parts]).returncode == 0
    assert [row["processes"] for row in query(tmp_path / "out.db", "runs")] == [2]


def test_where_nothing_can_be_locked_each_process_has_a_file(pieprof, tree, no_locks, tmp_path):
    env = clean_environment(LD_PRELOAD=str(no_locks))
    done = run([pieprof, "-o", "net.db", "-q", tree], cwd=tmp_path, env=env)
    assert (done.returncode, done.stdout) == (0, "done\ndone\n")
    assert done.stderr.count("\n") == 1 and "cannot be locked" in done.stderr and "merge" in done.stderr
    parts = files_of(tmp_path, "net.db.*")
    assert len(parts) == 3 and not (tmp_path / "net.db").exists()
    asked = run([pieprof, "query", parts[0], "processes"], env=env)
    assert asked.returncode == 0 and "tree.py" in asked.stdout
    merged = run([pieprof, "merge", tmp_path / "out.db", *parts])
    assert merged.returncode == 0, merged.stderr
    check_tree(tmp_path / "out.db")


def test_where_nothing_can_be_locked_the_request_is_silent(pieprof, no_locks, tmp_path):
    done = run([pieprof, "-o", "net.%p.db", "-q", "-c", "print(1)"], cwd=tmp_path,
               env=clean_environment(LD_PRELOAD=str(no_locks)))
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")
    assert len(files_of(tmp_path, "net.*.db")) == 1


@pytest.mark.parametrize("state", ["has written", "is writing"])
def test_new_file_in_place_of_one_that_is_still_written_to(pieprof, tree, tmp_path, state):
    """Somebody removes a profile while a process of its run goes on; its log is none of the new one's."""
    db = tmp_path / "x.db"
    assert run([pieprof, "-q", "-o", db, tree]).returncode == 0
    with contextlib.closing(sqlite3.connect(db, isolation_level=None)) as old:
        old.execute("UPDATE run SET pieprof_version = 'older'")
        if state == "is writing":
            old.execute("BEGIN IMMEDIATE")
        old.execute("UPDATE run SET pieprof_version = 'old'")
        db.unlink()
        done = run([pieprof, "-q", "-o", db, tree])
        assert (done.returncode, done.stderr) == (0, "")
        check_tree(db)
        if state == "is writing":
            old.execute("COMMIT")
        assert old.execute("SELECT pieprof_version FROM run").fetchall() == [("old",)]
    check_tree(db)


SHOW_RUN = r"""
#include <stdio.h>
#include <stdlib.h>
__attribute__((constructor)) static void show(void) {
    const char *run = getenv("_PIEPROF_RUN");
    if (run)
        dprintf(2, "_PIEPROF_RUN=%s\n", run);
}
"""


@pytest.fixture(scope="module")
def show_run(tmp_path_factory):
    """A library that says what a process was handed, before a core takes it out of the environment."""
    return library(tmp_path_factory.mktemp("showrun"), SHOW_RUN, "shows what is handed on")


def test_prices_of_counting_are_handed_to_what_a_program_executes(pieprof, show_run, tmp_path):
    """Else each child measures again what Python's blocks cost. A price is handed on as its hundredths of a ns and 1; 0
    is one that is not known, as those may be that the collection thread measures."""
    program = tmp_path / "parent.py"
    program.write_text(f"""import subprocess, sys
subprocess.run([sys.executable, "-c", ""], check=True, env={{"LD_PRELOAD": {str(show_run)!r}}})
""")
    shown = run([pieprof, "-q", "-o", tmp_path / "x.db", program], cwd=tmp_path, env=clean_environment()).stderr
    handed = [line for line in shown.splitlines() if line.startswith("_PIEPROF_RUN=")]
    assert len(handed) == 1, shown
    native, visit, small, large = map(int, handed[0].split("=")[1].split(":")[2:])
    assert min(small, large) > 0, handed
    assert max(native, visit, small, large) < 100_000, handed  # 1 us
