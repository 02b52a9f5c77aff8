# SPDX-License-Identifier: Apache-2.0
"""What a running program has measured so far, without a word to it; and profiles of which only the last part is
kept."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from helpers import accounts, check_file, clean_environment, is_made, query, run

BUSY = "import sys, time\nend = time.monotonic() + float(sys.argv[1])\nwhile time.monotonic() < end:\n    pass\nprint('the end')\n"
FORKING = """
import os, sys, time
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    if os.fork() == 0:
        os._exit(0)
    os.wait()
    time.sleep(0.1)
"""


@pytest.fixture
def running(pieprof, tmp_path):
    """A function that starts a program for some seconds, and returns it when its profile is there."""
    started = []

    def start(text, seconds, *options):
        command = [pieprof, "-q", *options, "-o", str(tmp_path / "x.db"), "-c", text, str(seconds)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=clean_environment())
        started.append(process)
        while not is_made(tmp_path / "x.db"):
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.01)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("by", ["pid", "file"])
def test_all_that_was_measured_before_is_in_it(pieprof, running, tmp_path, by):
    process = running(BUSY, 6)
    time.sleep(2.3)
    done = run([pieprof, "snapshot", process.pid if by == "pid" else tmp_path / "x.db", "-o", tmp_path / "s.db"])
    asked_s = time.time()
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{tmp_path}/s.db: 1 run, 1 process, 1 of them running\n"
    check_file(tmp_path / "s.db")
    (row,) = accounts(tmp_path / "s.db")
    (told,) = query(tmp_path / "s.db", "select started_ns, seen_ns, cause from process")
    assert row["program_s"] + row["own_s"] == pytest.approx(row["clock_s"], rel=0.05, abs=0.05)
    assert told["cause"] is None and 0 <= asked_s - told["seen_ns"] / 1e9 < 3.5
    assert (told["seen_ns"] - told["started_ns"]) / 1e9 > 2.2
    assert process.communicate(timeout=60) == ("the end\n", "") and process.returncode == 0
    (whole,) = accounts(tmp_path / "x.db")
    assert whole["clock_s"] > row["clock_s"]


def test_a_program_that_forks_is_found_too(pieprof, running, tmp_path):
    """It has its file open only while it writes."""
    process = running(FORKING, 4)
    time.sleep(0.5)
    done = run([pieprof, "snapshot", process.pid, "-o", tmp_path / "s.db"])
    assert done.returncode == 0, done.stderr
    assert check_file(tmp_path / "s.db")[0]["processes"] >= 1


OPENING = """
import sqlite3, sys, time
end = time.monotonic() + float(sys.argv[2])
while time.monotonic() < end:
    file = sqlite3.connect(sys.argv[1], timeout=10)
    file.execute("update run set pieprof_version = pieprof_version")
    file.commit()
    file.close()
"""


@pytest.mark.parametrize("command", ["snapshot", "merge"])
def test_a_file_that_is_opened_and_closed_all_the_time(pieprof, tmp_path, command):
    """Who closes it last locks it, takes what is in the log into it and removes the log."""
    assert run([pieprof, "-q", "-o", tmp_path / "x.db", "-c", "pass"]).returncode == 0
    told = set()
    with subprocess.Popen([sys.executable, "-c", OPENING, tmp_path / "x.db", "60"]) as opening:
        for i in range(60):
            words = [tmp_path / "x.db", "-o", tmp_path / f"{i}.db"] if command == "snapshot" else [tmp_path / f"{i}.db", tmp_path / "x.db"]
            done = run([pieprof, command, *words])
            told.add((done.returncode, done.stderr))
            if done.returncode == 0:
                check_file(tmp_path / f"{i}.db")
        assert opening.poll() is None
        opening.kill()
    assert told == {(0, "")}


def test_a_killed_program_is_not_waited_for(pieprof, running, tmp_path):
    process = running(BUSY, 30)
    time.sleep(1.2)
    process.send_signal(signal.SIGKILL)
    process.wait()
    begun_s = time.monotonic()
    done = run([pieprof, "snapshot", tmp_path / "x.db", "-o", tmp_path / "s.db"])
    assert (done.returncode, done.stdout) == (0, f"{tmp_path}/s.db: 1 run, 1 process\n")
    assert time.monotonic() - begun_s < 2


def test_a_stopped_program_is_said_to_be_silent(pieprof, running, tmp_path):
    process = running(BUSY, 30)
    process.send_signal(signal.SIGSTOP)
    # The others of its threads run on until the one that was chosen for the signal gets a processor.
    os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
    done = run([pieprof, "snapshot", tmp_path / "x.db", "-o", tmp_path / "s.db"])
    assert done.returncode == 0
    assert done.stdout.endswith("1 process, 1 of them running (1 wrote nothing for 3 s: what it wrote last)\n")
    process.send_signal(signal.SIGCONT)


def test_the_name_says_when(pieprof, running, tmp_path):
    running(BUSY, 4)
    done = run([pieprof, "snapshot"], cwd=tmp_path)
    assert done.returncode != 0 and "pieprof.db" in done.stderr
    done = run([pieprof, "snapshot", "x.db"], cwd=tmp_path)
    (made,) = tmp_path.glob("x-2*.db")
    assert done.stdout.startswith(made.name + ": ") and made.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("words, part", [
    ([str(2**22 + 7)], "process 4194311 writes no profile"), ([str(os.getpid())], "writes no profile"),
    (["missing.db"], "cannot open missing.db"), (["a.db", "b.db"], "one process or file at a time"),
])
def test_what_cannot_be_taken_is_said(pieprof, tmp_path, words, part):
    done = run([pieprof, "snapshot", *words], cwd=tmp_path)
    assert done.returncode in (1, 2) and part in done.stderr and not list(tmp_path.iterdir())


def test_a_file_that_is_there_stays(pieprof, running, tmp_path):
    running(BUSY, 3)
    (tmp_path / "s.db").write_text("mine")
    done = run([pieprof, "snapshot", tmp_path / "x.db", "-o", tmp_path / "s.db"])
    assert done.returncode == 2 and "is there already" in done.stderr
    assert (tmp_path / "s.db").read_text() == "mine"


def test_only_the_last_seconds_are_kept(pieprof, tmp_path):
    """--keep 10s of a run of fourteen."""
    program = tmp_path / "turns.py"
    program.write_text("import time\n"
                       "def early(end):\n    while time.monotonic() < end: pass\n"
                       "def late(end):\n    while time.monotonic() < end: pass\n"
                       "begun = time.monotonic()\nearly(begun + 2)\ntime.sleep(10)\nlate(begun + 14)\n")
    done = run([pieprof, "--keep", "10s", "-o", tmp_path / "x.db", program], timeout=60)
    assert done.returncode == 0 and "the last 1" in done.stderr and " s of 14." in done.stderr, done.stderr
    (whole,) = check_file(tmp_path / "x.db")
    assert 10 <= whole["wall_s"] <= 11.1
    functions = {row["function"]: row["cpu_s"] for row in query(tmp_path / "x.db", "hot functions")}
    assert "early" not in functions and functions["late"] > 0.3  # of two seconds on processors that others want too
    (process,) = query(tmp_path / "x.db", "select forgotten_s, slice_width_s from process")
    assert process == {"forgotten_s": 3, "slice_width_s": 1} or process["forgotten_s"] == 4
    assert whole["overhead_share"] < 0.5
    slices = query(tmp_path / "x.db", "slices")
    assert sum(row["samples"] for row in slices) == whole["samples"] and 10 <= len(slices) <= 12


def objects(text):
    """JSON objects one after the other."""
    decoder, found = json.JSONDecoder(), []
    while text := text.lstrip():
        one, end = decoder.raw_decode(text)
        found.append(one)
        text = text[end:]
    return found


def test_debug_of_a_running_process_tells_how_it_is_measured(pieprof, running, tmp_path):
    process = running(BUSY, 5)
    time.sleep(1.5)
    done = run([pieprof, "debug", "--json", process.pid])
    assert done.returncode == 0, done.stderr
    sampled, _, fills, overhead, rows = (answer["rows"] for answer in objects(done.stdout))
    assert [(row["pid"], row["cause"]) for row in sampled] == [(process.pid, None)]
    assert {"time", "collection thread"} <= {row["collector"] for row in overhead}
    assert {"threads", "contexts", "code"} <= {row["name"] for row in fills}
    for row in fills:
        assert row["size_bytes"] >= row["fill_bytes"] > 0
        assert row["fill_percent"] == pytest.approx(100 * row["fill_bytes"] / row["size_bytes"])
    assert process.communicate(timeout=60) == ("the end\n", "")
    told = {row["name"]: row["rows"] for row in rows}
    tables = [row["name"] for row in query(tmp_path / "x.db", "select name from sqlite_schema where type = 'table'")]
    assert sorted(told) == sorted(tables) and told["process"] == 1


def test_debug_shows_the_counters_of_all_processes(pieprof, tmp_path):
    db = tmp_path / "x.db"
    run([pieprof, "-q", "-o", db, "-c", "import os\npid = os.fork()\nif pid:\n    os.waitpid(pid, 0)"])
    _, counters, fills, _, rows = (answer["rows"] for answer in objects(run([pieprof, "debug", "--json", db]).stdout))
    expected = query(db, "select name, sum(value) as value from counter where substr(name, 1, 6) <> 'table_' group by name")
    assert {row["name"]: row["value"] for row in counters} == {row["name"]: row["value"] for row in expected}
    assert {row["name"]: row["processes"] for row in fills}["threads"] == 2
    assert {row["name"]: row["rows"] for row in rows}["process"] == 2
    text = run([pieprof, "debug", db])
    assert text.returncode == 0 and "Rows of tables" in text.stdout
