# SPDX-License-Identifier: Apache-2.0
"""Copies that a view could take the place of, and those that look like it (truth/memory/needless.py)."""

import pytest

from helpers import PYTHON, TRUTH, binary, has_numpy, line_of, profile, run

PROGRAM = TRUTH / "memory/needless.py"
SECONDS = 1.5
OPTIONS = ("--overhead", "30%")  # as many watches as in a longer run
NEEDLESS = ["read", "same_type", "part", "cut", "freeze", "let_go"]
# Of write_alike and restore only debug registers tell, which may be too few.
NEEDED = ["write_copy", "write_one", "write_source", "keep_part", "append", "join", "freeze_change", "refill", "hand_over"]
NOT_NEEDLESS = [*NEEDED, "write_alike", "restore", "half"]
COPIES_MIN, WATCHED_MIN = 20, 8


def skip_without_registers(folder):
    probe = profile(folder / "probe.db", "-c", "pass").sql("select sampler, sampler_note from process")
    if probe[0]["sampler"] == "none":
        pytest.skip(f"debug registers are refused here: {probe[0]['sampler_note']}")


@pytest.fixture(scope="module")
def done(pieprof, tmp_path_factory):
    folder = tmp_path_factory.mktemp("needless")
    skip_without_registers(folder)
    return profile(folder / "all.db", PROGRAM, SECONDS, options=OPTIONS)


def rows_of(done, name):
    rows = [row for row in done.query("needless copies") if (row["file"], row["line"]) == (str(PROGRAM), line_of(PROGRAM, name))]
    print(name, rows)
    return rows


@pytest.mark.parametrize("name", NEEDLESS)
def test_what_nobody_writes_is_needless(done, name):
    (row,) = rows_of(done, name)
    # Handing over to another thread takes most of the time, so a busy machine may watch too few of those.
    is_known = row["watched"] >= WATCHED_MIN
    assert row["verdict"] == ("needless" if is_known else "undecided") and row["copies"] >= COPIES_MIN
    assert is_known or name == "let_go"
    assert row["needless_low"] >= 0.8 and row["needless_share"] > 0.95 and row["needless_high"] == pytest.approx(1)
    assert row["bytes"] == pytest.approx(done.truth[name], rel=0.25)
    assert row["cpu_s"] < SECONDS * 1.2


@pytest.mark.parametrize("name", NOT_NEEDLESS)
def test_what_is_written_is_not(done, name):
    """One element, the same values, the source, by another thread, by the kernel; and what is no view."""
    rows = rows_of(done, name)
    assert all(row["verdict"] != "needless" for row in rows)
    if name in NEEDED and rows:  # a line that grows has none
        assert rows[0]["needless_share"] < 0.05 and rows[0]["verdict"] == "needed"


def test_of_some_copies_the_share_is_told(done):
    (row,) = rows_of(done, "half")
    assert row["needless_low"] < 0.5 < row["needless_high"]


def test_the_summary_tells_it(pieprof, tmp_path):
    if not has_numpy():
        pytest.skip(f"{PYTHON} has no NumPy")
    skip_without_registers(tmp_path)
    done = run([binary(), "-o", "x.db", PROGRAM, "3", "read"], cwd=tmp_path, env={"COLUMNS": "200"})
    told = [text for text in done.stderr.splitlines() if ": needless copies (" in text]
    assert len(told) == 1 and told[0].startswith(f"needless.py:{line_of(PROGRAM, 'read')}: ")
    assert told[0].endswith("): neither array was written before one died; a view would do")


@pytest.mark.parametrize("options", [["--sampler", "none"], ["--no-memory"], ["--no-copies"]])
def test_nothing_is_claimed_without_what_it_takes(pieprof, tmp_path, options):
    done = profile(tmp_path / "x.db", PROGRAM, "0.5", "read", options=options)
    assert done.sql("select * from copy_end") == [] and done.query("needless copies") == []


FORKS = """
import os, threading, numpy
array = numpy.arange(40000.0)
def work(turns):
    for turn in range(turns):
        copy = array.copy()
        copy.sum()
held = [array.copy() for _ in range(30)]
threads = [threading.Thread(target=work, args=(3000,)) for _ in range(2)]
for thread in threads:
    thread.start()
for _ in range(8):
    work(200)
    pid = os.fork()
    if pid == 0:
        held.clear()
        work(4000)
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
for thread in threads:
    thread.join()
"""


def test_forks_and_threads_do_no_harm(pieprof, tmp_path):
    """What the parent follows is nothing to its children; they follow copies of their own."""
    skip_without_registers(tmp_path)
    done = profile(tmp_path / "x.db", "-c", FORKS)
    ends = done.sql("select p.parent is null as is_parent, e.outcome, sum(e.copies) as copies from copy_end e "
                    "join process p on p.id = e.process join node n on n.process = e.process and n.id = e.node "
                    "join location l on l.process = n.process and l.id = n.own_location where l.line = 6 group by 1, 2")
    print(ends)
    assert {row["is_parent"] for row in ends} == {0, 1}
    needless, rewritten = 1, 6
    of = {outcome: sum(row["copies"] for row in ends if row["outcome"] == outcome) for outcome in range(1, 7)}
    assert of[needless] > 0 and of[rewritten] == 0
