# SPDX-License-Identifier: Apache-2.0
"""run.py compares verdicts, runs files at the same time and goes on where it stopped; its interpreter is made up."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

RUN = pathlib.Path(__file__).resolve().parent / "run.py"

# Plays both interpreters; what each of its files does is in its name. With PIEPROF it is the profiled one.
INTERPRETER = '''#!/usr/bin/python3 -IS
import os, pathlib, signal, subprocess, sys, time
FILES = "fine slow broken crash absent fails one two leaves never".split()
words, folder = sys.argv[1:], pathlib.Path(__file__).resolve().parent
if words[0] == "-c":
    print("3.0.1")
elif "--list-tests" in words:
    print(*("test_" + name for name in FILES))
if "--timeout" not in words:
    sys.exit()
name, limit, profiled = words[-1], int(words[words.index("--timeout") + 1]), "PIEPROF" in os.environ
with open(folder / "calls", "a") as calls:
    print("pieprof" if profiled else "python3", name, limit, file=calls)
def ends(text, status):
    print(text)
    sys.exit(status)
def late():
    ends("Timeout (0:00:01)!", 1)
if name == "test_slow" and limit < 30 or name == "test_never":
    late()
elif name == "test_leaves":
    left = subprocess.Popen(["/bin/sleep", "1000"])
    (folder / "left").write_text(str(left.pid))
    if profiled:
        late()
elif name == "test_broken" and profiled:
    ends("FAIL: test_it (test_broken.Some.test_it)\\nERROR: test_too (test_broken.Some)", 2)
elif name == "test_broken":
    ends("ERROR: test_too (test_broken.Some)", 2)
elif name == "test_fails":
    ends("FAIL: test_it (test_fails.Some)", 2)
elif name == "test_crash" and profiled:
    os.kill(os.getpid(), signal.SIGSEGV)
elif name == "test_absent":
    ends("test_absent skipped -- No module named 'absent'", 0)
elif name in ("test_one", "test_two"):  # each waits for the other
    (folder / name).write_text("")
    end = time.monotonic() + 20
    while not ((folder / "test_one").exists() and (folder / "test_two").exists()):
        if time.monotonic() > end:
            ends("FAIL: test_it (test_one.Some)", 2)
        time.sleep(0.01)
print("Result: SUCCESS")
'''


@pytest.fixture
def made_up(tmp_path):
    program = tmp_path / "made-up"
    program.write_text(INTERPRETER)
    program.chmod(0o755)
    return program


def command(program, *words):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PIEPROF")}
    env = {**kept, "PIEPROF": str(program), "PIEPROF_PYTHON": str(program)}
    return {"args": [sys.executable, str(RUN), *map(str, words)], "env": env, "cwd": program.parent, "text": True}


def run(program, *words):
    return subprocess.run(**command(program, *words), capture_output=True, timeout=100)


def calls(program):
    """What ran since the last call, as (who, file, limit)."""
    path = program.parent / "calls"
    found = [tuple(line.split()) for line in path.read_text().splitlines()] if path.exists() else []
    path.unlink(missing_ok=True)
    return found


def is_gone(pid):
    for _ in range(100):
        state = pathlib.Path(f"/proc/{pid}/stat")
        if not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.05)
    return False


def test_verdicts_are_compared(made_up):
    done = run(made_up, "test_fine", "test_broken", "test_crash", "test_absent", "test_fails")
    assert done.stdout.splitlines() == [
        "test_fine: passed",
        "test_broken: python3 failed (status 2), pieprof failed (status 2)",
        "    test_it (test_broken.Some.test_it) fails under pieprof only",
        "test_crash: python3 passed, pieprof failed (status -11)",
        "test_absent: skipped under python3 itself on this machine",
        "test_fails: failed (status 2)",
        "5 files: 2 same, 1 skipped, 2 different: test_broken test_crash",
    ] and done.returncode == 1
    assert ("python3", "test_fine", "500") not in calls(made_up)


def test_tap_counts_the_same(made_up):
    done = run(made_up, "--tap", "test_fine", "test_crash", "test_absent")
    assert done.stdout.splitlines() == [
        "ok 1 test_fine: passed",
        "not ok 2 test_crash: python3 passed, pieprof failed (status -11)",
        "ok 3 test_absent # SKIP skipped under python3 itself on this machine",
        "1..3",
    ] and done.returncode == 0


def test_two_jobs_run_at_the_same_time(made_up):
    done = run(made_up, "--jobs", "2", "test_one", "test_two")
    assert sorted(done.stdout.splitlines()[:2]) == ["test_one: passed", "test_two: passed"]


def test_what_needs_more_time_comes_last(made_up):
    done = run(made_up, "--first", "1", "--timeout", "30", "test_slow", "test_fine")
    assert done.stdout.splitlines()[:-1] == ["test_fine: passed", "test_slow: passed"]
    assert done.stdout.splitlines()[-1] == "2 files: 2 same, 0 skipped, 0 different"
    ran = [("test_slow", "1"), ("test_fine", "1"), ("test_slow", "30")]
    assert calls(made_up) == [("pieprof", *call) for call in ran]


def test_it_goes_on_where_it_stopped(made_up):
    results = made_up.parent / "results.jsonl"
    words = ["--results", results, "test_slow", "test_fine", "test_crash"]
    first = run(made_up, "--timeout", "1", *words)
    assert "test_slow: timed out under python3 itself on this machine" in first.stdout
    calls(made_up)
    again = run(made_up, "--timeout", "1", *words)
    assert sorted(again.stdout.splitlines()) == sorted(first.stdout.splitlines()) and calls(made_up) == []
    assert again.returncode == 1
    longer = run(made_up, "--timeout", "30", *words)
    assert calls(made_up) == [("pieprof", "test_slow", "30")]
    assert longer.stdout.splitlines()[-1] == "3 files: 2 same, 0 skipped, 1 different: test_crash"
    entry = json.loads(results.read_text().splitlines()[-1])
    assert [entry[name] for name in ("column", "file", "state")] == ["3.0.1 embedding", "test_slow", "same"]


def test_a_killed_run_left_its_folders(made_up):
    kept = made_up.parent / "kept"
    (kept / "pieprof" / "test_fine" / "more").mkdir(parents=True)
    (kept / "bin").mkdir()
    (kept / "bin" / "python3").symlink_to("elsewhere")
    done = run(made_up, "--keep", kept, "test_fine")
    assert done.stdout.splitlines()[0] == "test_fine: passed" and (kept / "test_fine.pieprof.txt").exists()


def test_results_are_shown(made_up):
    results = made_up.parent / "results.jsonl"
    words = ["--results", results]
    run(made_up, "--first", "1", "--timeout", "2", *words, "test_never")
    run(made_up, *words, "test_fine", "test_slow", "test_broken", "test_crash", "test_absent")
    interrupted = {"column": "3.0.1 embedding", "file": "test_two", "state": "unfinished", "text": "timed out"}
    with open(results, "a") as file:
        print(json.dumps({**interrupted, "details": [], "limit": 1}), file=file)
    calls(made_up)
    done = run(made_up, *words, "--show")
    assert done.returncode == 0 and calls(made_up) == []
    assert done.stdout.splitlines() == [
        "test_broken: python3 failed (status 2), pieprof failed (status 2)",
        "    test_it (test_broken.Some.test_it) fails under pieprof only",
        "test_crash: python3 passed, pieprof failed (status -11)",
        "test_two: timed out",
        "3.0.1 embedding: 10 files: 2 same, 2 different, 2 skipped, 1 unfinished, 3 not run",
    ]


def test_a_torn_line_of_results_is_no_result(made_up):
    results = made_up.parent / "results.jsonl"
    run(made_up, "--results", results, "test_fine", "test_slow")
    results.write_text(results.read_text()[:-20])
    calls(made_up)
    run(made_up, "--results", results, "test_fine", "test_slow")
    assert calls(made_up) == [("pieprof", "test_slow", "500")]
    run(made_up, "--results", results, "test_fine", "test_slow")
    assert calls(made_up) == []


def test_results_of_another_column_are_refused(made_up):
    results = made_up.parent / "results.jsonl"
    run(made_up, "--results", results, "test_fine")
    results.write_text(results.read_text().replace("embedding", "guest"))
    calls(made_up)
    done = run(made_up, "--results", results, "test_fine")
    assert done.returncode == 1 and done.stdout == "" and calls(made_up) == []
    assert done.stderr.strip() == f"run.py: {results} has results of 3.0.1 guest, this is 3.0.1 embedding"


def test_what_timed_out_leaves_nothing(made_up):
    done = run(made_up, "test_leaves")
    assert done.stdout.splitlines()[0] == "test_leaves: python3 passed, pieprof timed out"
    assert is_gone(int((made_up.parent / "left").read_text()))


@pytest.mark.parametrize("number, status", [(signal.SIGINT, -signal.SIGINT), (signal.SIGTERM, 128 + signal.SIGTERM)])
def test_nothing_runs_on_after_it_was_ended(made_up, number, status):
    results = made_up.parent / "results.jsonl"
    child = subprocess.Popen(**command(made_up, "--results", results, "test_fine", "test_one"),
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                             preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # fmt: skip
    while not (made_up.parent / "test_one").exists():
        assert child.poll() is None
        time.sleep(0.01)
    begun = time.monotonic()
    child.send_signal(number)
    assert child.wait(timeout=15) == status and time.monotonic() - begun < 10
    assert [json.loads(line)["file"] for line in results.read_text().splitlines()] == ["test_fine"]
