# SPDX-License-Identifier: Apache-2.0
"""What a killed process measured is not lost: each has a row, at whatever age it was killed, which says how it
ended."""

import collections
import json
import os
import sqlite3
import subprocess
import time

import pytest

from helpers import FAULTS, check_file, clean_environment, query, run

TREE = FAULTS / "tree"
AGES = [0, 0.001, 0.01, 0.03, 0.1, 0.3, 1, 2]
LATE_S = 0.35  # on a loaded machine a write comes later than it is due


def killed(pieprof, db, *words, options=("-q",)):
    done = run([pieprof, *options, "-o", db, *words])
    assert done.returncode == 0, done.stderr
    check_file(db)
    rows = query(db, "select * from v_process order by process")
    assert rows[0]["depth"] == 0 and rows[0]["parent"] is None
    return done, rows


def one(rows, pid, **more):
    (found,) = [row for row in rows if row["pid"] == pid and all(row[name] == value for name, value in more.items())]
    return found


@pytest.mark.parametrize("how", ["fork", "exec_later", "spawn", "subprocess", "multiprocessing fork",
                                 "multiprocessing spawn", "multiprocessing forkserver"])
def test_killed_at_any_age(pieprof, tmp_path, how):
    """Row, cause, status and parent of each; CPU time but for the last half of its life, or the last second."""
    (tmp_path / "folder").mkdir()
    done, rows = killed(pieprof, tmp_path / "x.db", TREE / "killed.py", how, tmp_path / "folder", *AGES)
    children = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(child["age"], child["status"]) for child in children] == [(age, -9) for age in AGES]
    server = 1 if how != "multiprocessing forkserver" else one(rows, one(rows, children[0]["pid"])["parent_pid"])["process"]
    for child in children:
        row = one(rows, child["pid"], cause="killed")
        assert (row["exit_status"], row["parent"]) == (137, server), row
        assert row["depth"] == (1 if server == 1 else 2)
        missing_s = child["cpu_s"] - (row["cpu_s"] or 0)
        assert missing_s < min(1, child["age"] / 2 + 0.05) + LATE_S, (child, row)
        if child["cpu_s"] > 0.2 + LATE_S:
            assert row["cpu_s"] > 0, (child, row)
        elif row["cpu_s"] is None:
            assert row["threads"] == 0
    assert {row["cause"] for row in rows if row["pid"] not in {child["pid"] for child in children}} <= {"exit", "_exit"}
    for row in rows:
        if row["clock_note"] and "wrote nothing" in row["clock_note"]:
            assert row["clock_note"] == "wrote nothing: killed before the first write" and row["cpu_s"] is None


def test_command_line_of_the_youngest(pieprof, tmp_path):
    program = ("import os, subprocess, sys; p = subprocess.Popen([sys.executable, '-c', 'pass', 'a b', 'x' * 1000]); p.kill(); "
               "p.wait(); os.kill(c := os.fork() or os.pause(), 9); os.wait()").replace("os.pause()", "__import__('time').sleep(9)")
    _, rows = killed(pieprof, tmp_path / "x.db", "-c", program)
    found = [json.loads(row["argv"]) for row in query(tmp_path / "x.db", "select argv from process where cause = 'killed' order by id")]
    assert found in ([["-c", "pass", "a b", "…"], ["-c", program]], [["-c", "pass", "a b", "x" * 1000], ["-c", program]])
    assert {row["cause"] for row in rows} == {"exit", "killed"}
    (tmp_path / "x.db").unlink()
    killed(pieprof, tmp_path / "x.db", "-c", program, options=("-q", "--no-argv"))
    assert query(tmp_path / "x.db", "select distinct argv from process") == [{"argv": None}]


@pytest.mark.parametrize("how, expected", [("zombie", [("killed", 137, 1)]), ("ignored", [("gone", None, 1)]),
                                           ("orphan", [("killed", 137, 1), ("gone", None, 2)])])
def test_end_that_nobody_waits_for(pieprof, tmp_path, how, expected):
    done, rows = killed(pieprof, tmp_path / "x.db", TREE / "unwaited.py", how)
    found = [one(rows, int(pid)) for pid in done.stdout.split()]
    assert [(row["cause"], row["exit_status"], row["depth"]) for row in found] == expected
    for row, parent in zip(found, [rows[0], *found]):
        assert row["parent"] == parent["process"]


@pytest.mark.parametrize("how, cause, status", [("terminate", "signal", 143), ("kill", "killed", 137)])
@pytest.mark.parametrize("age", ["0.05", "0.6"])
def test_workers_of_a_pool(pieprof, tmp_path, how, cause, status, age):
    done, rows = killed(pieprof, tmp_path / "x.db", TREE / "pool.py", how, age)
    for pid in done.stdout.split():
        row = one(rows, int(pid))
        # A worker that has only just been forked may be ended before it has a handler.
        assert (row["cause"], row["exit_status"]) in ((cause, status), ("killed", status))
        # Its share of the processors, which others want too; of a killed one the last second is missing.
        if age == "0.6" and how == "terminate":
            assert row["cpu_s"] > 0.05


def test_parents_that_come_later_than_their_children(pieprof, tmp_path):
    """A process that is killed before its first write has a row only when its child has one already."""
    program = """
import os, signal, time
read, write = os.pipe()
child = os.fork()
if child == 0:
    if os.fork() == 0:
        time.sleep(0.3)
        os._exit(5)
    os.write(write, b"x")
    time.sleep(60)
os.read(read, 1)
os.kill(child, signal.SIGKILL)
os.waitpid(child, 0)
time.sleep(0.5)
"""
    _, rows = killed(pieprof, tmp_path / "x.db", "-c", program)
    child, grandchild = one(rows, [row for row in rows if row["cause"] == "killed"][0]["pid"]), one(
        rows, [row for row in rows if row["exit_status"] == 5][0]["pid"])
    assert (child["parent"], grandchild["parent"]) == (rows[0]["process"], child["process"])


def test_files_of_their_own(pieprof, tmp_path):
    """What another process's file says is not said again in the parent's."""
    program = """
import os, time
for age in (0, 0.4):
    child = os.fork()
    if child == 0:
        while True: sum(range(1000))
    time.sleep(age)
    os.kill(child, 9)
    os.waitpid(child, 0)
"""
    done = run([pieprof, "-q", "-o", tmp_path / "%p.db", "-c", program])
    assert done.returncode == 0, done.stderr
    files = {path: query(path, "select cause from v_process order by process") for path in tmp_path.glob("*.db")}
    assert sorted(map(len, files.values())) == [1, 2]
    assert sorted(row["cause"] or "" for rows in files.values() for row in rows) == ["", "exit", "killed"]
    merged = tmp_path / "merged"
    assert run([pieprof, "merge", merged, *files]).returncode == 0
    assert len(query(merged, "processes")) == 3


@pytest.mark.parametrize("late", [0, 1, 2])
def test_summary_tells_what_could_not_write(pieprof, python_for_all, tmp_path, late):
    """Of two workers that become another user, `late` have opened the file before."""
    if os.geteuid() != 0:
        pytest.skip("needs root to become another user")
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o700)
    done, rows = killed(pieprof, folder / "x.db", TREE / "workers.py", str(late), options=())
    lines = done.stderr.splitlines()
    told = [line for line in lines if "wrote nothing" in line]
    silent = collections.Counter(row["clock_note"] for row in rows if "wrote nothing" in (row["clock_note"] or ""))
    assert sorted(told) == sorted(f"{n} process{'es' if n > 1 else ''} {note}" for note, n in silent.items())
    # A worker that gets no processor for 25 ms before it becomes another user has opened the file by then, and writes.
    refused = silent["wrote nothing: Permission denied"]
    assert silent["wrote nothing: it could not open the profile, or not in time"] == 2
    assert refused <= 2 - late and sum(silent.values()) == refused + 2
    assert {row["cause"] for row in rows} <= {"exit", "_exit"} and len(rows) == 5
    assert sorted(row["exit_status"] for row in rows) == [0, 0, 0, 34, 34]
    # A sample that meets a handler at work is dropped too, now and then, and says nothing of what was written.
    drops = query(folder / "x.db", "select counter, sum(drops) as drops from v_drop where counter <> 'handler_reentered' group by 1")
    assert drops == [{"counter": "flushes_failed", "drops": refused}] * (refused > 0)


def test_living_process_is_not_gone(pieprof, tmp_path):
    """Who looks from another PID namespace may take it for gone; its next write corrects that."""
    db = tmp_path / "x.db"
    with subprocess.Popen([pieprof, "-q", "-o", db, "-c", "input()"], stdin=subprocess.PIPE, env=clean_environment()) as process:
        end = time.monotonic() + 20
        while time.monotonic() < end and not (db.exists() and db.stat().st_size):
            time.sleep(0.05)
        time.sleep(0.5)
        with sqlite3.connect(db, timeout=20) as file:
            file.execute("update process set cause = 'gone'")
        file.close()
        while time.monotonic() < end and query(db, "processes")[0]["cause"]:
            time.sleep(0.1)
        assert query(db, "processes")[0]["cause"] is None
        process.communicate(b"\n")
    assert query(db, "processes")[0]["cause"] == "exit"


def test_child_ended_at_its_first_moment_dies_of_that_signal(pieprof, tmp_path):
    """While it replaces what it has of its parent's profile no handler may run: some died of SIGSEGV."""
    program = ("import os, signal, time\nends = set()\n"
               "for n in range(150):\n"
               "    child = os.fork()\n"
               "    if not child: signal.pause()\n"
               "    end = time.monotonic() + n % 30 * 5e-5\n"
               "    while time.monotonic() < end: pass\n"
               "    os.kill(child, signal.SIGTERM); ends.add(os.waitpid(child, 0)[1])\n"
               "print(ends)")
    done = run([pieprof, "-q", "-o", tmp_path / "x.db", "-c", program])
    assert (done.stdout, done.returncode) == ("{15}\n", 0), done
