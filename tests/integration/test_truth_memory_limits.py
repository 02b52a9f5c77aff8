# SPDX-License-Identifier: Apache-2.0
"""Programs that run out of memory (truth/memory/climb.py): they see what they would see, and the file shows the
climb."""

import re
import signal

import pytest

from helpers import PYTHON, TRUTH, binary, check_file, clean_environment, profile, python_minor, query, run

PROGRAM = TRUTH / "memory" / "climb.py"
MB = 10**6


def steps(completed):
    """What the program printed of its climb: (time, bytes)."""
    return [(float(t), int(b)) for t, b in (line.split() for line in completed.stdout.splitlines()) if t != "caught"]


def check_climb(done):
    """The timeline follows the climb to within its last second."""
    rows = done.query("top 100000 memory timeline")
    climb = steps(done.completed)
    begun, ended = climb[0][0], climb[-1][0]
    (process,) = done.sql("select started_ns / 1e9 as started from process")
    points = [(process["started"] + r["t_s"], r["heap_bytes"]) for r in rows]
    assert points[-1][0] > ended - 1
    base = min(b for _, b in points)
    during = [(t, b) for t, b in points if begun <= t <= ended]
    assert len(during) >= 5
    for t, b in during:
        truth = max((bytes_ for time, bytes_ in climb if time <= t), default=0)
        # A step is printed a moment after it was made; the interpreter has its own part, that of the start and a
        # little.
        assert truth - 10 * MB <= b <= truth + base + 30 * MB
    assert max(b for _, b in points) > climb[-1][1] - 200 * MB


def assert_ends_alike(told, plain):
    """From 3.13 on a module prints the traceback, as far as there is memory for it. 3.14 says what it lacks: it then
    ends with the object's address, and with the loss of sys.stderr."""
    ends = [re.sub(r"\nobject address  : [^\0]*lost sys.stderr\n$", "\nMemoryError\n", text) for text in (told, plain)]
    if python_minor() < 13:
        assert ends[0] == ends[1]
    for end in ends:
        assert "Traceback (most recent call last):\n" in end and "MemoryError" in end.splitlines()[-1]


def test_a_kill_in_the_climb_leaves_it_to_be_seen(pieprof, tmp_path):
    done = profile(tmp_path / "x.db", PROGRAM, "kill", 500 * MB, check=False)
    assert done.completed.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL)
    check_file(done.db)
    check_climb(done)
    (row,) = [r for r in done.query("top 100000 memory") if r["file"] == str(PROGRAM) and r["rank"] == 1]
    # At 200 MB/s: the last second is missing, and what was allocated is known some tenths of a second later.
    assert row["allocated_bytes"] > 200 * MB


def test_a_memory_error_ends_the_program_as_ever(pieprof, tmp_path):
    done = profile(tmp_path / "x.db", PROGRAM, "limit", 400 * MB, check=False)
    plain = run([PYTHON, PROGRAM, "limit", 400 * MB])
    assert done.completed.returncode == plain.returncode == 1
    assert_ends_alike(done.completed.stderr, plain.stderr)
    assert abs(steps(done.completed)[-1][1] - steps(plain)[-1][1]) <= 32 * MB
    (one,) = check_file(done.db)
    assert one["cause"] == "exit" and one["exit_status"] == 1
    check_climb(done)
    assert done.query("heap")[0]["peak_bytes"] > 350 * MB


def test_a_limit_that_stands_for_itself_leaves_most_to_the_program(pieprof, tmp_path):
    """A round number, above what is mapped with the profiler's own: that is given back."""
    text = f"""
import resource
resource.setrlimit(resource.RLIMIT_AS, ({3 * 2**30}, resource.RLIM_INFINITY))
print(len(bytearray({2 * 2**30})))
"""
    done = profile(tmp_path / "x.db", "-c", text)
    assert done.completed.stdout == f"{2 * 2**30}\n"


def test_a_memory_error_that_is_caught_is_no_end(pieprof, tmp_path):
    done = profile(tmp_path / "x.db", PROGRAM, "caught", 300 * MB)
    assert done.completed.stdout.splitlines()[-1] == "caught 100000000"
    (one,) = check_file(done.db)
    assert one["exit_status"] == 0
    check_climb(done)


@pytest.mark.parametrize("limit", [150, 300, 1000])
def test_under_a_limit_of_the_shell(pieprof, tmp_path, limit):
    """ulimit -v, in MB, of all that is mapped: the profiler takes a part of it, and leaves most to the program."""
    db = tmp_path / "x.db"
    command = ["sh", "-c", f"ulimit -v {limit * 1000}; exec \"$@\"", "sh"]
    done = run([*command, binary(), "-q", "-o", db, PROGRAM, "none"], env=clean_environment())
    plain = run([*command, PYTHON, PROGRAM, "none"])
    assert plain.returncode == 1 and "MemoryError" in plain.stderr
    assert done.returncode == 1
    assert_ends_alike("".join(text for text in done.stderr.splitlines(True) if not text.startswith("pieprof: ")), plain.stderr)
    held, held_plain = steps(done)[-1][1], steps(plain)[-1][1]
    print(limit, held, held_plain)
    assert held > held_plain - (120 + limit // 10) * MB
    check_file(db)
    peak = query(db, "heap")[0]["peak_bytes"]
    assert peak == pytest.approx(held, abs=30 * MB) or "is incomplete" in done.stderr
